// placeholder
import type { PageParts } from '../../frame/frame.ts'
import type { MapSide } from './build.ts'
import type { FindingMarks } from './marks.ts'

export async function mapPage(parts: PageParts, side: MapSide, marks: FindingMarks): Promise<string> {
  return `${JSON.stringify(parts.report)}${side.answers.length}${marks.of.length}`
}
