// The script, styles and body of the page. A shipped executable holds them as text: scripts/build/map-page.ts puts that in the
// place of this module, which bundles them anew.

/** The assets of the page. */
export { bundlePage as pageAssets } from './assets/bundle.ts'
