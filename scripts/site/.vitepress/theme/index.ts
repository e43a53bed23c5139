// VitePress's own theme with the fonts of the machine, and with diagrams.
import { onMounted, watch } from 'vue'
import { onContentUpdated, useData, withBase } from 'vitepress'
import Theme from 'vitepress/theme-without-fonts'
import { drawDiagrams } from './diagrams.ts'

export default {
  extends: Theme,
  setup() {
    const { isDark } = useData()
    const draw = (): void => {
      void drawDiagrams(withBase('/mermaid.js'), isDark.value)
    }
    onMounted(draw)
    onContentUpdated(draw)
    watch(isDark, draw)
  },
}
