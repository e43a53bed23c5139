// Names outside of the cluster: which strings of a role or of a list are names, and how each is compared.
import { describe, expect, test } from 'vitest'
import { holdsOneName, namesInJson, namesInList } from '../../src/core/model/naming/names-outside.ts'
import type { PolicyRule } from '../../src/core/model/objects/access-rule.ts'

const ID = 'spiffe://example.org/ns/team-a/pool/llama'

/** `SPIFFE spiffe://…`, `pattern ["spiffe://…",""]`. */
function shown(rules: readonly PolicyRule[] = []): readonly string[] {
  return rules.flatMap(({ name, sources }) =>
    sources.map((one) => {
      const text =
        one.kind === 'SPIFFE'
          ? one.spiffeId
          : one.kind === 'pattern'
            ? `${JSON.stringify(one.pattern.all)} ${JSON.stringify(one.pattern.like) ?? ''}`.trimEnd()
            : one.kind === 'dead'
              ? `${one.written} ${one.instead ?? '-'}`
              : ''
      if (one.kind === 'pattern' && one.perhaps !== undefined)
        return `${name}: perhaps ${JSON.stringify(one.perhaps.matchers)}`
      return `${name}: ${one.isExcluded === true ? 'all but ' : ''}${one.kind} ${text}`.trimEnd()
    }),
  )
}

describe('JSON', () => {
  test.each<[string, unknown, readonly string[]]>([
    ['a role of Vault', { bound_subject: ID }, [`.bound_subject: SPIFFE ${ID}`]],
    ['its claims as a whole', { bound_claims: { sub: `${ID}*` } }, [`.bound_claims.sub: dead ${ID}* -`]],
    [
      'its claims as globs',
      { bound_claims_type: 'glob', bound_claims: { sub: [`${ID}*`] } },
      [`.bound_claims.sub[0]: pattern [[["${ID}",""]]]`],
    ],
    [
      'URIs of the cert method',
      { allowed_uri_sans: ['spiffe://*/x'] },
      ['.allowed_uri_sans[0]: pattern [[["spiffe://","/x"]]]'],
    ],
    [
      'the type of claims stands beside them, wherever the role stands',
      {
        data: { bound_claims_type: 'glob', bound_claims: { sub: 'spiffe://a/*/x' } },
        roles: [{ bound_claims_type: 'string', bound_claims: { sub: 'spiffe://a/*/x' } }],
      },
      [
        '.data.bound_claims.sub: pattern [[["spiffe://a/","/x"]]]',
        '.roles[0].bound_claims.sub: dead spiffe://a/*/x -',
      ],
    ],
    [
      'workload IDs, which have no trust domain',
      { workload_id_patterns: ['/ns/+/pool/*', 'ns/team-a/pool/llama'] },
      [
        '.workload_id_patterns[0]: pattern [[["spiffe://","/ns/","/pool/",""]]] {"text":"spiffe://+/ns/+/pool/*"}',
        '.workload_id_patterns[1]: pattern [[["spiffe://","/ns/team-a/pool/llama"]]] {"text":"spiffe://+/ns/team-a/pool/llama"}',
      ],
    ],
    [
      'StringEquals of AWS',
      { Condition: { StringEquals: { 'x:sub': ID } } },
      [`.Condition.StringEquals["x:sub"]: SPIFFE ${ID}`],
    ],
    [
      'StringLike of AWS',
      { Condition: { StringLike: { 'x:sub': `${ID}*` } } },
      [`.Condition.StringLike["x:sub"]: pattern [[["${ID}",""]]]`],
    ],
    [
      'StringLike with a single character',
      { StringLike: { 'x:sub': `${ID}?*` } },
      [`.StringLike["x:sub"]: pattern [[["${ID}",""]]] {"text":"${ID}?*"}`],
    ],
    [
      'patterns that begin before the scheme ends, where a client is asked for',
      {
        StringLike: { 'x:sub': ['*', 's*/x', 'repo:org/*', 'spiff?://a/x'], 'x:aud': '*' },
        StringEquals: { 'x:sub': '*' },
        StringNotLike: { 'aws:PrincipalTag/x509SAN/URI': '*/x' },
        allowed_uri_sans: '*',
      },
      [
        '.StringLike["x:sub"][0]: pattern [[["",""]]]',
        '.StringLike["x:sub"][1]: pattern [[["s","/x"]]]',
        '.StringLike["x:sub"][3]: pattern [[["spiff","://a/x"]]] {"text":"spiff?://a/x"}',
        '.StringNotLike["aws:PrincipalTag/x509SAN/URI"]: all but pattern [[["","/x"]]]',
        '.allowed_uri_sans: pattern [[["",""]]]',
      ],
    ],
    [
      'operators of AWS that leave names out',
      { 'ForAnyValue:StringNotLikeIfExists': { 'x:sub': `${ID}/*` }, StringNotEquals: { 'x:sub': [ID] } },
      [
        `["ForAnyValue:StringNotLikeIfExists"]["x:sub"]: all but pattern [[["${ID}/",""]]]`,
        `.StringNotEquals["x:sub"][0]: all but SPIFFE ${ID}`,
      ],
    ],
    [
      'an operator of AWS for which the case of letters does not count',
      { StringEqualsIgnoreCase: { 'x:sub': [ID, 'SPIFFE://A/x'] } },
      [
        `.StringEqualsIgnoreCase["x:sub"][0]: pattern [[["spiffe://",""]]] {"text":"${ID}","ignoresCase":true}`,
        '.StringEqualsIgnoreCase["x:sub"][1]: pattern [[["spiffe://",""]]] {"text":"SPIFFE://A/x","ignoresCase":true}',
      ],
    ],
    [
      'a member of GCP',
      { members: [`principal://iam.googleapis.com/projects/1/subject/${ID}`] },
      [`.members[0]: SPIFFE ${ID}`],
    ],
    ['CEL', { attributeCondition: `assertion.sub == "${ID}"` }, [`.attributeCondition: SPIFFE ${ID}`]],
    [
      'lists as one text, of Vault and as Terraform writes claims',
      {
        bound_claims_type: 'glob',
        bound_claims: { '/sub': `*/x, ${ID}/*` },
        allowed_uri_sans: `${ID},spiffe://a/*`,
        workload_id_patterns: '/a,/b/*',
      },
      [
        '.bound_claims["/sub"]: pattern [[["","/x"]]]',
        `.bound_claims["/sub"]: pattern [[["${ID}/",""]]]`,
        `.allowed_uri_sans: SPIFFE ${ID}`,
        '.allowed_uri_sans: pattern [[["spiffe://a/",""]]]',
        '.workload_id_patterns: pattern [[["spiffe://","/a"]]] {"text":"spiffe://+/a"}',
        '.workload_id_patterns: pattern [[["spiffe://","/b/",""]]] {"text":"spiffe://+/b/*"}',
      ],
    ],
    [
      'a statement of AWS that denies',
      {
        Statement: [
          { Effect: 'Deny', Condition: { StringEquals: { 'x:sub': ID } } },
          { Effect: 'Deny', Condition: { StringNotEquals: { 'x:sub': ID } } },
        ],
      },
      [
        `.Statement[0].Condition.StringEquals["x:sub"]: all but SPIFFE ${ID}`,
        `.Statement[1].Condition.StringNotEquals["x:sub"]: SPIFFE ${ID}`,
      ],
    ],
    [
      'a condition of a document of Terraform',
      {
        statement: [
          { effect: 'Deny', condition: [{ test: 'StringLike', variable: 'x:sub', values: ['*/y'] }] },
        ],
      },
      ['.statement[0].condition[0].values[0]: all but pattern [[["","/y"]]]'],
    ],
    [
      'a beginning, a pattern or a variable where it is not known how a text is compared',
      { prefix: 'spiffe://a/b', regex: 'spiffe://a/.*', StringLike: { 'x:sub': 'spiffe://a/${aws:x}/*' } },
      [
        '.prefix: perhaps [["spiffe://a/b",""]]',
        '.regex: perhaps [["spiffe://a/",""]]',
        '.StringLike["x:sub"]: perhaps [["spiffe://a/","/",""]]',
      ],
    ],
    [
      'scheme and trust domain in capitals, which no ID has',
      {
        bound_subject: 'SPIFFE://a/x',
        StringEquals: { 'x:sub': 'spiffe://A/x' },
        StringLike: { 'x:sub': 'Spiffe://A/X*' },
        subject: 'SPIFFE://A/X',
      },
      [
        '.bound_subject: dead SPIFFE://a/x spiffe://a/x',
        '.StringEquals["x:sub"]: dead spiffe://A/x spiffe://a/x',
        '.StringLike["x:sub"]: dead Spiffe://A/X* spiffe://a/X*',
        '.subject: perhaps [["spiffe://a/X"]]',
      ],
    ],
    [
      'variables, also where no scheme is written, and functions of a template',
      {
        StringEquals: {
          'a:sub': 'spiffe://${Domain}/ns/a',
          'b:sub': [
            '${Id}',
            { 'Fn::Sub': 'spiffe://${Domain}/b' },
            { 'Fn::Join': ['', ['spiffe://', 'x', '/y']] },
          ],
          'b:aud': [{ Ref: 'Audience' }],
        },
        StringNotLike: { 'x:sub': { Ref: 'Pattern' } },
        bound_subject: 'spiffe://{{ .Values.domain }}/ns/a',
        workload_id_patterns: '/ns/${Namespace}/pool/*',
      },
      [
        '.StringEquals["a:sub"]: perhaps [["spiffe://","/ns/a"]]',
        '.StringEquals["b:sub"][0]: perhaps [["",""]]',
        '.StringEquals["b:sub"][1]["Fn::Sub"]: perhaps [["spiffe://","/b"]]',
        '.StringEquals["b:sub"][2]: perhaps [["",""]]',
        '.StringNotLike["x:sub"]: perhaps [["",""]]',
        '.bound_subject: perhaps [["spiffe://","/ns/a"]]',
        '.workload_id_patterns: perhaps [["spiffe://","/ns/","/pool/",""]]',
      ],
    ],
    [
      'the end of an ID of kleym, which a program may ask for',
      {
        attributeCondition: `sub == "${ID}" || sub.endsWith("/objective/chat")`,
        regex: '.*/pool/llama.*',
        path: 'ns/team-a/pool/llama/variant/decode',
        bound_claims: { '/path': '/ns/team-a/pool/llama' },
        StringLike: { 'aws:PrincipalTag/id': '*/objective/chat', 'aws:PrincipalTag/spiffe': 's*chat' },
        url: 'https://example.org/api/pool/llama',
      },
      [
        `.attributeCondition: SPIFFE ${ID}`,
        '.attributeCondition: perhaps [["spiffe://","/objective/chat"]]',
        '.regex: perhaps [["spiffe://","/pool/llama",""]]',
        '.path: perhaps [["spiffe://","ns/team-a/pool/llama/variant/decode"]]',
        '.bound_claims["/path"]: perhaps [["spiffe://","/ns/team-a/pool/llama"]]',
        '.StringLike["aws:PrincipalTag/id"]: pattern [[["","/objective/chat"]]]',
        '.StringLike["aws:PrincipalTag/spiffe"]: pattern [[["s","chat"]]]',
      ],
    ],
    ['a key', { roles: { [ID]: 'admin' } }, [`.roles["${ID}"]: SPIFFE ${ID}`]],
    ['nothing', { a: 'b', c: [1, null] }, []],
    ['no mapping', [], []],
  ])('%s', (_, value, expected) => {
    expect(shown(namesInJson(value))).toEqual(expected)
  })
})

test('a list: IDs, patterns, comments, and what lacks the scheme', () => {
  expect(shown(namesInList(`# ours\n${ID} # the pool\n\nspiffe://example.org/*\r\nexample.org/a\n`))).toEqual(
    [
      `line 2: SPIFFE ${ID}`,
      'line 4: pattern [[["spiffe://example.org/",""]]]',
      'line 5: dead example.org/a spiffe://example.org/a',
    ],
  )
})

test('a list with quotes and commas, and with patterns of another language', () => {
  expect(shown(namesInList(`"${ID}",\r# ours\rspiffe://a/*,spiffe://b/x\r\nspiffe://a/?b\n`))).toEqual([
    `line 1: SPIFFE ${ID}`,
    'line 3: pattern [[["spiffe://a/",""]]]',
    'line 3: SPIFFE spiffe://b/x',
    'line 4: perhaps [["spiffe://a/","b"]]',
  ])
})

test('a list of what a product calls its clients', () => {
  const member = `principal://iam.googleapis.com/p/subject/${ID}`
  expect(shown(namesInList(`User:${ID}\n${member}\nUser:spiffe://a/b/*\nexample.org/ns/a/pool/b\n`))).toEqual(
    [
      `line 1: SPIFFE ${ID}`,
      `line 2: SPIFFE ${ID}`,
      'line 3: perhaps [["spiffe://a/b/",""]]',
      'line 4: perhaps [["spiffe://","/ns/a/pool/b"]]',
    ],
  )
})

test('a text with two words in a line, or with a key alone, is no list', () => {
  expect(namesInList('- spiffe://example.org/a')).toBeUndefined()
  expect(namesInList('sub:\n')).toBeUndefined()
})

test.each<[string, string]>([
  ['.data.bound_subject', 'one'],
  ['.data.bound_claims.sub', 'value'],
  ['.Condition.StringEquals["x:sub"]', 'value'],
  ['.Condition["ForAnyValue:StringNotLike"]["x:sub"]', 'value'],
  ['.policy.Condition.StringEquals["x:sub"]', 'value'],
  ['.allowed_uri_sans', 'value'],
  ['.workload_id_patterns', 'value'],
  ['[0].subject', 'text'],
  ['.attributeCondition', 'text'],
])('how %s comes to hold two names: %s', (field, expected) => {
  expect(holdsOneName(field)).toBe(expected)
})
