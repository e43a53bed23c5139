// What one run of the screen reads: the live state of the chosen namespace, and which namespaces there are.
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { distinct } from '@kleym/shared/core/base/text/bytes.ts'
import { ignoranceOf } from '@kleym/shared/kube/failures.ts'
import type { Client } from '@kleym/shared/kube/client.ts'
import { NAMESPACES, resourceName } from '@kleym/shared/kube/resources.ts'
import { LiveState, type LiveIo, type Picture } from './live-state.ts'
import type { Row } from './rows.ts'
import type { LearntSettings } from './settings.ts'

/** What a session needs of the process. */
export interface SessionIo extends LiveIo {
  readonly client: LiveIo['client'] & Pick<Client, 'list'>
}

/** Makes pictures, and makes new ones when the objects that it follows change. */
export interface Live {
  /** The latest one. */
  readonly picture: Picture
  readonly start: () => void
  readonly stop: () => void
  /** Chooses the binding whose derivation is wanted, or none. */
  readonly choose: (key: string | undefined) => void
}

/** The namespaces that the chooser offers. */
export interface KnownNamespaces {
  /** In byte order. */
  readonly names: readonly string[]
  /** Why there may be others. */
  readonly note: string | undefined
}

/** What a screen reads and asks of the live side. */
export interface WatchSession {
  /** The latest picture. */
  readonly picture: () => Picture
  /** The namespaces, as far as they are known. */
  readonly namespaces: () => KnownNamespaces
  /** Calls `listener` when the picture or the namespaces have changed; the result unsubscribes. */
  readonly subscribe: (listener: () => void) => () => void
  /** Follows another namespace from now on; undefined: all. */
  readonly watch: (namespace: string | undefined) => void
  /** Chooses the binding whose derivation is wanted, or none. */
  readonly choose: (key: string | undefined) => void
  /** Reads which namespaces there are. */
  readonly readNamespaces: () => void
  readonly stop: () => void
}

/** Whom a session tells of what only a bug can throw, and of more than a watch keeps. */
export type OnBug = (error: unknown) => void

/** What a session shows. */
export interface SessionSource {
  /** Makes what follows a namespace, or all; it is not started. */
  readonly begin: (namespace: string | undefined, onPicture: (picture: Picture) => void) => Live
  /** The namespaces that there are; `seen` are the rows of the latest picture. */
  readonly namespaces: (seen: readonly Row[]) => Promise<KnownNamespaces>
}

/** What a session of a cluster begins with. */
export interface ClusterSessionOptions {
  readonly settings: LearntSettings
  /** Learns the settings of a namespace, or of all, again. */
  readonly learn?: (namespace: string | undefined) => Promise<LearntSettings>
  readonly onBug: OnBug
}

/** A cluster as what a session shows. */
export function clusterSource(
  io: SessionIo,
  { settings, learn, onBug }: ClusterSessionOptions,
): SessionSource {
  return {
    begin: (namespace, onPicture) =>
      new LiveState(io, {
        namespace,
        settings,
        ...(learn === undefined ? {} : { learn: () => learn(namespace) }),
        onBug,
        onPicture,
      }),
    namespaces: (seen) => listNamespaces(io.client, seen),
  }
}

/** Begins to follow what there is. */
export function startSession(source: SessionSource, first: string | undefined): WatchSession {
  const listeners = new Set<() => void>()
  const notify = (): void => {
    for (const listener of listeners) listener()
  }
  let picture: Picture
  let namespaces: KnownNamespaces = { names: [], note: undefined }
  const begin = (namespace: string | undefined): Live => {
    const live = source.begin(namespace, (next) => {
      picture = next
      notify()
    })
    picture = live.picture
    live.start()
    return live
  }
  const readNamespaces = async (): Promise<void> => {
    namespaces = await source.namespaces(picture.rows)
    notify()
  }
  let live = begin(first)
  return {
    picture: () => picture,
    namespaces: () => namespaces,
    subscribe: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    watch: (namespace) => {
      live.stop()
      live = begin(namespace)
      notify()
    },
    choose: (key) => live.choose(key),
    readNamespaces: () => void readNamespaces(),
    stop: () => live.stop(),
  }
}

/** All namespaces; where they may not be listed, those that are seen. */
async function listNamespaces(client: SessionIo['client'], seen: readonly Row[]): Promise<KnownNamespaces> {
  try {
    const { items } = await client.list(NAMESPACES, { metadataOnly: true })
    return { names: distinct(items.map((item) => readMeta(item).name)), note: undefined }
  } catch (error) {
    const why = ignoranceOf(error, 'list', resourceName(NAMESPACES))
    return {
      names: distinct(seen.map(({ namespace }) => namespace)),
      note: `${unknownReasonText(why)}; type the name of one`,
    }
  }
}
