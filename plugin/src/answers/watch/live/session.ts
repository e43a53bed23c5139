// One sitting at the screen: the live side of the namespace that is looked at, and the namespaces that there are.
import { unknownReasonText } from '@kleym/shared/core/unknown-reason.ts'
import { readMeta } from '@kleym/shared/core/objects/meta.ts'
import { compareBytes } from '@kleym/shared/core/text/bytes.ts'
import { ignoranceOf } from '@kleym/shared/kube/failures.ts'
import type { Client } from '@kleym/shared/kube/client.ts'
import { NAMESPACES, resourceName } from '@kleym/shared/kube/resources.ts'
import { LiveState, type LiveIo, type Picture } from './live-state.ts'
import type { Row } from './rows.ts'
import type { GivenSettings } from './settings.ts'

export interface SessionIo extends LiveIo {
  readonly client: LiveIo['client'] & Pick<Client, 'list'>
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
  /** Hears that picture or namespaces are others; the result ends it. */
  readonly subscribe: (hear: () => void) => () => void
  /** Follows another namespace from now on; undefined: all. */
  readonly watch: (namespace: string | undefined) => void
  /** Chooses the binding whose derivation is wanted, or none. */
  readonly choose: (key: string | undefined) => void
  /** Reads which namespaces there are. */
  readonly readNamespaces: () => void
  readonly stop: () => void
}

export interface SessionOptions {
  readonly namespace: string | undefined
  readonly settings: GivenSettings
  readonly onBug: (error: unknown) => void
}

/** Begins to follow the cluster. */
export function startSession(io: SessionIo, options: SessionOptions): WatchSession {
  const listeners = new Set<() => void>()
  const tell = (): void => {
    for (const hear of listeners) hear()
  }
  let picture: Picture
  let namespaces: KnownNamespaces = { names: [], note: undefined }
  const begin = (namespace: string | undefined): LiveState => {
    const live = new LiveState(io, {
      namespace,
      settings: options.settings,
      onBug: options.onBug,
      onPicture: (next) => {
        picture = next
        tell()
      },
    })
    picture = live.picture
    live.start()
    return live
  }
  const readNamespaces = async (): Promise<void> => {
    namespaces = await listNamespaces(io.client, picture.rows)
    tell()
  }
  let live = begin(options.namespace)
  return {
    picture: () => picture,
    namespaces: () => namespaces,
    subscribe: (hear) => {
      listeners.add(hear)
      return () => void listeners.delete(hear)
    },
    watch: (namespace) => {
      live.stop()
      live = begin(namespace)
      tell()
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

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted(compareBytes)
}
