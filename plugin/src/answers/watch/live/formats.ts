// The forms of the watch as a stream: apart, because help knows them and nothing else of the watch.

export const STREAM_FORMATS = ['text', 'json'] as const
export type StreamFormat = (typeof STREAM_FORMATS)[number]
