// The formats of `watch`, in a file of their own: help loads them, and nothing else of the watch.

/** The formats of the stream of lines. */
export const STREAM_FORMATS = ['text', 'json'] as const
/** One of them. */
export type StreamFormat = (typeof STREAM_FORMATS)[number]
