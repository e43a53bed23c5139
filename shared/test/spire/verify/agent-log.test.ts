// The lines of an agent that tell the selectors of a process, as SPIRE 1.9 to 1.15 write them, and what is none of them.
import { describe, expect, test } from 'vitest'
import { readAgentLog } from '../../../src/core/predict/verify/agent-log.ts'

const OF = { podUid: 'u1', container: 'app' }
const ALL = ['k8s:container-name:app', 'k8s:ns:team-a', 'k8s:pod-label:a/b:c d', 'k8s:pod-uid:u1']

/** A line of text as logrus quotes it; protobuf prints one space between fields, or two. */
function textLine(selectors: readonly string[], space = ' '): string {
  const messages = selectors.map((one) => {
    const at = one.indexOf(':')
    return `type:${JSON.stringify(one.slice(0, at))}${space}value:${JSON.stringify(one.slice(at + 1))}`
  })
  const value = JSON.stringify(`[${messages.join(' ')}]`)
  return `time="2026-11-22T12:00:00.000Z" level=debug msg="PID attested to have selectors" pid=7 selectors=${value} subsystem_name=workload_attestor`
}

function jsonLine(selectors: readonly string[]): string {
  const messages = selectors.map((one) => {
    const [type, ...value] = one.split(':')
    return { type, value: value.join(':') }
  })
  return JSON.stringify({
    level: 'debug',
    msg: 'PID attested to have selectors',
    pid: 7,
    selectors: messages,
  })
}

const refusal = (selectors: string): string =>
  `time="2026-11-22T12:00:00Z" level=error msg="No identity issued" method=FetchX509SVID registered=false selectors=${selectors} service=WorkloadAPI`

describe('the selectors of a process', () => {
  test.each([
    ['text', textLine(ALL)],
    ['text with two spaces', textLine(ALL, '  ')],
    ['JSON', jsonLine(ALL)],
    [
      'a line of kubectl logs --prefix --timestamps',
      `[pod/agent-x/spire-agent] 2026-11-22T12:00:00Z ${jsonLine(ALL)}`,
    ],
    ['one line among others', `level=info msg="Starting"\r\n${textLine(ALL)}\r\nlevel=info msg=x\n`],
  ])('%s', (_name, log) => {
    expect(readAgentLog(log, OF)).toEqual({ ok: true, selectors: ALL, isWhole: true })
  })

  test.each([
    ['text', refusal('"k8s:ns:team-a,k8s:pod-image:a/b@sha256:1,unix:uid:0"')],
    ['text without quotes', refusal('k8s:ns:team-a,k8s:pod-image:a/b@sha256:1,unix:uid:0')],
    [
      'JSON',
      JSON.stringify({
        msg: 'No identity issued',
        selectors: 'k8s:ns:team-a,k8s:pod-image:a/b@sha256:1,unix:uid:0',
      }),
    ],
  ])('of a refusal, those that log_selectors allows: %s', (_name, log) => {
    expect(readAgentLog(log, OF)).toEqual({
      ok: true,
      selectors: ['k8s:ns:team-a', 'k8s:pod-image:a/b@sha256:1', 'unix:uid:0'],
      isWhole: false,
    })
  })

  test('a value that holds quotes, line breaks and other scripts comes back as it was', () => {
    const odd = ['k8s:pod-label:a:"x"\n\\', 'k8s:ns:日本']
    expect(readAgentLog(textLine(odd), OF)).toMatchObject({ ok: true, selectors: odd })
    expect(readAgentLog(jsonLine(odd), OF)).toMatchObject({ ok: true, selectors: odd })
  })

  test('of several calls the last one of the container counts, then the last one of the pod', () => {
    const others = [
      textLine(['k8s:pod-uid:u1', 'k8s:container-name:app', 'k8s:ns:old']),
      textLine(['k8s:pod-uid:u1', 'k8s:container-name:app', 'k8s:ns:new']),
      textLine(['k8s:pod-uid:u1', 'k8s:container-name:proxy']),
      textLine(['k8s:pod-uid:u2', 'k8s:container-name:app']),
    ]
    expect(readAgentLog(others.join('\n'), OF)).toMatchObject({
      selectors: expect.arrayContaining(['k8s:ns:new']),
    })
    expect(readAgentLog(others.slice(2).join('\n'), OF)).toMatchObject({
      selectors: ['k8s:pod-uid:u1', 'k8s:container-name:proxy'],
    })
  })

  test('a refusal follows the line of its attestation, which tells more', () => {
    const log = `${textLine(ALL)}\n${refusal('k8s:ns:team-a')}`
    expect(readAgentLog(log, OF)).toEqual({ ok: true, selectors: ALL, isWhole: true })
  })

  test.each([
    ['nothing', '', /^no line of it has selectors/],
    ['another program', '{"selectors":"k8s:ns:x"}\nselectors=k8s:ns:x', /^no line of it has selectors/],
    [
      'a refusal without log_selectors',
      refusal('').replace(' selectors=', ''),
      /^no line of it has selectors/,
    ],
    ['JSON that is cut off', jsonLine(ALL).slice(0, -2), /^no line of it has selectors/],
    ['another pod', textLine(['k8s:pod-uid:u2']), /selectors of 1 calls, and none of them is of the pod/],
    [
      'a line without end',
      `PID attested to have selectors selectors=${'"x'.repeat(200_000)}`,
      /^no line of it/,
    ],
  ])('there are none: %s', (_name, log, why) => {
    expect(readAgentLog(log, OF)).toEqual({ ok: false, why: expect.stringMatching(why) })
  })
})
