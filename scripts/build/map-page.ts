// Puts the page of `map` into a bundle as text: no executable can bundle it anew, and none needs esbuild.
import type { Plugin } from 'esbuild'
import { bundlePage } from '../../plugin/src/answers/map/assets/bundle.ts'

/** An esbuild plugin: plugin/src/answers/map/page-assets.ts becomes a module that holds what it would make. */
export const mapPage: Plugin = {
  name: 'map-page',
  setup(build) {
    build.onLoad({ filter: /[/\\]answers[/\\]map[/\\]page-assets\.ts$/ }, async () => ({
      contents: `const assets = ${JSON.stringify(await bundlePage())}\nexport const pageAssets = async () => assets\n`,
      loader: 'js',
    }))
  },
}
