// What reports and views share: the answers as data, before anybody has put them into words.
import type { ConditionCount, Stuck } from '@kleym/shared/core/install/conditions.ts'
import type { OperatorDeployment } from '@kleym/shared/core/install/operator-deployment.ts'
import type { ScmContainer } from '@kleym/shared/core/install/scm-container.ts'
import type { ScmInstance } from '@kleym/shared/core/install/scm-instance.ts'
import type { Container, Pod } from '@kleym/shared/core/objects/pod.ts'
import type { Action } from '@kleym/shared/core/plan/plan.ts'
import type { ObjectHandling } from '@kleym/shared/core/spire/prediction.ts'
import type { NamedBy } from '@kleym/shared/core/policies/resolution.ts'
import type { KindFact, Leader } from '../cluster/installation.ts'
import type { Registration } from '@kleym/shared/core/spire/registration.ts'

/** One container of a pod that was asked about, and every registration that would select it. */
export interface ContainerAnswer {
  readonly container: Container
  readonly registrations: readonly Registration[]
}

export interface PodAnswer {
  readonly pod: Pod
  readonly containers: readonly ContainerAnswer[]
}

/** What narrows the question within the chosen pods. */
export interface Narrowing {
  readonly container: string | undefined
  readonly spiffeId: string | undefined
}

/** Who names the identities of some containers. */
export interface Named {
  /** The SPIFFE IDs that were asked about, in byte order. */
  readonly ids: readonly string[]
  readonly by: NamedBy
}

/** One ClusterSPIFFEID before and after; an empty text where it is not there. */
export interface ObjectChange {
  readonly kind: Action['kind']
  readonly name: string
  readonly binding: string
  readonly because: string
  readonly before: string
  readonly after: string
  /** It is due already, whether or not the files are applied. */
  readonly dueAlready: boolean
}

/** An installation as a person and a machine are told of it. */
export interface StatusAnswer {
  readonly kinds: readonly KindFact[]
  /** Undefined: could not be looked for. */
  readonly operators: readonly OperatorDeployment[] | undefined
  readonly leader: (Leader & { readonly isCurrent: boolean }) | undefined
  /** Whether SCM handles kleym's class. */
  readonly scm: ObjectHandling
  /** Every SCM whose configuration was found, the one that the answer is about first. */
  readonly scms: readonly ScmInstance[]
  /** The containers that run SCM; undefined: it is not known which do. */
  readonly scmContainers: readonly ScmContainer[] | undefined
  /** Undefined: bindings could not be listed. */
  readonly conditions: readonly ConditionCount[] | undefined
  readonly stuck: Stuck | undefined
}
