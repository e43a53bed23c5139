// `.Name` on a value: a method, a field of a struct or an entry of a map, in the order of Go's evalField.
import { hasOpaqueField, methodOf, type GoMethod, type StructType } from './go-types.ts'
import { Placeholder } from './placeholder.ts'
import { TemplateFailure, Unknowable } from './signals.ts'
import {
  entryOf,
  fromPlaceholder,
  indirect,
  inWords,
  PlaceholderValue,
  readField,
  Ref,
  typeName,
  typeOf,
  type Value,
} from './values.ts'

/**
 * The value of `.name` on `receiver`. `args` counts the arguments given to it, the piped one included. Throws
 * `TemplateFailure` where Go fails, `Unknowable` where kleym cannot tell.
 */
export function evalField(receiver: Value, name: string, args: number): Value {
  if (receiver === undefined) return undefined
  if (receiver instanceof Ref) return refField(receiver, name, args)
  if (receiver instanceof PlaceholderValue) return placeholderField(receiver, name, args)
  return leafField(receiver, name, args)
}

function refField(receiver: Ref, name: string, args: number): Value {
  const target = indirect(receiver)
  if (!(target instanceof Ref)) return evalField(target, name, args)
  const { type } = target
  const struct = type.kind === 'pointer' && type.elem.kind === 'struct' ? type.elem : type
  if (struct.kind === 'struct') return structField(target, struct, name, args)
  const method = methodOf(type, name)
  if (method !== undefined) return callMethod(method, args, typeName(receiver))
  if (type.kind !== 'map' || type.key.name !== 'string') cannot(name, typeName(receiver))
  if (args > 0) throw new TemplateFailure(`${name} is not a method but has arguments`)
  return entryOf(target, type, name)
}

function structField(target: Ref, struct: StructType, name: string, args: number): Value {
  const field = struct.fields().get(name)
  const nil = target.type.kind === 'pointer'
  if (field === undefined) {
    const method = methodOf(struct, name)
    if (method !== undefined) return getter(target, struct, method, args)
    if (hasOpaqueField(struct, name))
      throw new Unknowable(`field ${name} of the ${target.what} (${struct.name})`)
    return cannot(name, typeName(target))
  }
  if (nil) throw new TemplateFailure(`nil pointer evaluating *${struct.name}.${name}`)
  if (args > 0) throw new TemplateFailure(`${name} has arguments but cannot be invoked as function`)
  return readField(target, field)
}

/** `.GetName` and the like read a field; any other method is not modelled. */
function getter(target: Ref, struct: StructType, method: GoMethod, args: number): Value {
  const field = struct.fields().get(method.name.slice(3))
  if (args > 0 || field === undefined || !isGetter(struct, method.name))
    return callMethod(method, args, target.what)
  if (target.type.kind === 'pointer')
    throw new TemplateFailure(`nil pointer evaluating *${struct.name}.${method.name}`)
  return readField(target, field)
}

function isGetter(struct: StructType, method: string): boolean {
  return (
    method.startsWith('Get') && struct.fields().has('GenerateName') && struct.fields().has('OwnerReferences')
  )
}

function callMethod(method: GoMethod, args: number, of: string): never {
  if (method.variadic ? args < method.args : args !== method.args)
    throw new TemplateFailure(`wrong number of args for ${method.name}: want ${method.args} got ${args}`)
  if (!method.callable)
    throw new TemplateFailure(`function ${method.name} does not return what a template can use`)
  throw new Unknowable(`method ${method.name} of the ${of}`)
}

function placeholderField(receiver: PlaceholderValue, name: string, args: number): Value {
  let { type } = receiver
  if (type.kind === 'pointer') type = type.elem
  if (type.kind === 'struct') return placeholderStructField(receiver, type, name, args)
  if (type.kind === 'map' && type.key.name === 'string')
    throw new Unknowable(`entry ${name} of the ${receiver.what}, which may be absent`)
  const method = methodOf(type, name)
  return method === undefined ? cannot(name, type.name) : callMethod(method, args, receiver.what)
}

function placeholderStructField(
  receiver: PlaceholderValue,
  struct: StructType,
  name: string,
  args: number,
): Value {
  const method = methodOf(struct, name)
  const read = method !== undefined && args === 0 && isGetter(struct, name) ? name.slice(3) : name
  const field = struct.fields().get(read)
  if (field === undefined) {
    if (method !== undefined) return callMethod(method, args, receiver.what)
    if (hasOpaqueField(struct, name)) throw new Unknowable(`field ${name} of the ${receiver.what}`)
    return cannot(name, struct.name)
  }
  if (args > 0) throw new TemplateFailure(`${name} has arguments but cannot be invoked as function`)
  // A pointer that is itself not known may be nil, where Go fails.
  if (receiver.type.kind === 'pointer' && !receiver.present)
    throw new Unknowable(`field ${name} of the ${receiver.what}, which may be absent`)
  return fromPlaceholder(new Placeholder(`${receiver.what} ${inWords(read)}`), field.type)
}

function leafField(receiver: Value, name: string, args: number): never {
  const type = typeOf(receiver)
  const method = type === undefined ? undefined : methodOf(type, name)
  if (method !== undefined) return callMethod(method, args, typeName(receiver))
  return cannot(name, typeName(receiver))
}

function cannot(name: string, type: string): never {
  throw new TemplateFailure(`can't evaluate field ${name} in type ${type}`)
}
