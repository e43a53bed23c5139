// The values of HTTP headers, as Go's net/http sends them: any text without control characters, as its UTF-8 bytes.
// https://pkg.go.dev/golang.org/x/net/http/httpguts#ValidHeaderFieldValue

/** Whether a text can be sent in a header: it has no control character but tabs. */
export function isHeaderValue(text: string): boolean {
  return !/[\u0000-\u0008\u000a-\u001f\u007f]/.test(text)
}

/** A text as Node takes it for a header, where each character stands for one byte. */
export function headerValue(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}
