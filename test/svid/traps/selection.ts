// Which pods a registration reaches.
import { pod } from '../build-cluster.ts'
import { id, P, type Trap } from './trap.ts'

/** docs/spire-facts.md §2. */
export const SELECTION_TRAPS: readonly Trap[] = [
  {
    name: 'an absent and an empty podSelector select every pod',
    waves: [[P, pod('@', 'q'), id('absent'), id('empty', { podSelector: {} })]],
    holds: { p: ['/absent', '/empty'], q: ['/absent', '/empty'] },
  },
  {
    name: 'NotIn and DoesNotExist also select pods without the label',
    waves: [
      [
        P,
        pod('@', 'q'),
        id('not-in', {
          podSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['llama'] }] },
        }),
        id('absent', { podSelector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } }),
        id('in', {
          podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['llama', 'x'] }] },
        }),
        id('exists', { podSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }),
      ],
    ],
    holds: { p: ['/exists', '/in'], q: ['/absent', '/not-in'] },
  },
  {
    name: 'finished and terminating pods keep their entries',
    waves: [
      [
        { object: pod('@', 'done'), phase: 'Succeeded' },
        { object: pod('@', 'failed'), phase: 'Failed' },
        { object: pod('@', 'leaving'), terminating: true },
        id('x'),
      ],
    ],
    holds: { done: ['/x'], failed: ['/x'], leaving: ['/x'] },
  },
  {
    name: 'pods without a node, and with a node that is not there, have no entry',
    waves: [
      [pod('@', 'pending', {}, { nodeName: null }), pod('@', 'lost', {}, { nodeName: 'gone' }), id('x')],
    ],
    holds: { pending: [], lost: [] },
  },
  {
    name: 'two pods of one kind have an entry each',
    waves: [[pod('@', 'a'), pod('@', 'b'), id('x')]],
    holds: { a: ['/x'], b: ['/x'] },
  },
]
