// The anchor of a heading, as GitHub makes it. The site uses the same, so that a link holds in both.

/** The anchor of a heading by its text, which may hold links; a second heading of the same text gets `-1` after it. */
export function anchorOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}
