// The script, styles and body of the page. A shipped executable holds them as text: scripts/build/map-page.ts puts that in the
// place of this module, which bundles them anew.
import { bundlePage, type PageAssets } from './assets/bundle.ts'

/** The assets of the page. */
export async function pageAssets(): Promise<PageAssets> {
  return bundlePage()
}
