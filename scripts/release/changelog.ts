// The notes of one version, from docs/CHANGELOG.md, which is kept as https://keepachangelog.com/en/1.1.0/ says.

/** What the changelog says about a version. */
export interface VersionNotes {
  /** `2026-11-30`; undefined while it is unreleased. */
  readonly date: string | undefined
  /** Markdown, without the heading and without empty lines around it. */
  readonly text: string
}

/** Finds the notes of a version; undefined where there are none. */
export function notesOf(changelog: string, version: string): VersionNotes | undefined {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((one) => one.startsWith(`[${version}] - `))
  if (section === undefined) return undefined
  const [heading = '', ...lines] = section.split('\n')
  const date = /(\d{4}-\d{2}-\d{2})$/.exec(heading)?.[1]
  // Links that the headings refer to stand at the end of the file.
  const text = lines.filter((line) => !/^\[[^\]]+\]: /.test(line)).join('\n')
  return { date, text: text.trim() }
}
