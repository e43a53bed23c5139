// `metav1.MicroTime`: the API server takes exactly six digits after the point, and a Date has three.

/** `2026-11-21T10:00:00.123000Z`. */
export function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z')
}
