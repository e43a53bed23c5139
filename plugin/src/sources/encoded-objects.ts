// Whether a text may hold objects in base64, as Secrets do: told without decoding anything.

/** The bytes of `apiVersion` in base64, wherever they begin. */
const API_VERSION_BASE64 = /YXBpVmVyc2lvb|FwaVZlcnNpb2|hcGlWZXJzaW9u/

/** Whether the text of a Secret or a ConfigMap may hold objects in base64. */
export function mayHoldEncoded(text: string): boolean {
  return API_VERSION_BASE64.test(text)
}
