/*
 * Calls every method of every resource of gitbeaker with a requester that only records, with every option that the method's
 * types allow. The options come from the type checker, and the names from the requests.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as gitbeaker from '@gitbeaker/core'
import { createRequesterFn } from '@gitbeaker/requester-utils'
import { API, SignatureKind, TypeFlags } from 'typescript/unstable/sync'

const TEXT = 'zzargument'
const NUMBER = 777_001
/** The depth of objects in options: `not[labels]` has 1, `actions[][path]` too. */
const MAX_DEPTH = 3

/** The resources by name. What has no methods is a constant or an error. */
const resources = Object.entries(gitbeaker).filter(
  ([, value]) => typeof value === 'function' && Object.getOwnPropertyNames(allOf(value.prototype)).length > 0,
)

function allOf(prototype) {
  const methods = {}
  for (let each = prototype; each && each !== Object.prototype; each = Object.getPrototypeOf(each)) {
    for (const name of Object.getOwnPropertyNames(each)) {
      if (name !== 'constructor') methods[name] ??= each[name]
    }
  }
  return methods
}

/** Returns the requests, with the path's arguments replaced by ":", and a line for each method that sent nothing. */
export async function gitbeakerRequests() {
  const requests = []
  const silent = []
  const types = openTypes()
  try {
    for (const [name, Resource] of resources) {
      const recorder = newRecorder()
      const resource = new Resource({ host: 'http://localhost', token: 'x', requesterFn: recorder.requesterFn })
      for (const [method, signatures] of types.methodsOf(name)) {
        if (typeof resource[method] !== 'function') continue
        const found = []
        for (const signature of signatures) found.push(...(await requestsOf(recorder, resource, method, signature)))
        if (found.length === 0) silent.push(`gitbeaker: ${name}.${method} sent nothing`)
        requests.push(...found)
      }
    }
  } finally {
    types.close()
  }
  return { requests, silent }
}

/** Records the last request instead of sending it. */
function newRecorder() {
  const recorder = { last: undefined }
  const send = async (path, { method, body, searchParams }) => {
    const isForm = body instanceof FormData
    recorder.last = { method, path: templateOf(path), isForm, parameters: namesSent(searchParams, body) }
    return { body: {}, headers: {}, status: 200 }
  }
  recorder.requesterFn = createRequesterFn(async (_options, request) => request, send)
  return recorder
}

const templateOf = (path) => `/${path}`.replaceAll('//', '/').replaceAll(TEXT, ':').replaceAll(String(NUMBER), ':')
const snakeCase = (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const nameOf = (name) => snakeCase(name.replace(/\[\]$/, ''))
/** An object that holds a file is the parameter of that file. */
const isFile = (value) => Object.hasOwn(value, 'content') && Object.hasOwn(value, 'filename')

function namesSent(searchParams, body) {
  const names = new Set([...new URLSearchParams(searchParams ?? '').keys()].map(nameOf))
  if (body instanceof FormData) for (const name of body.keys()) names.add(nameOf(name))
  else if (body !== undefined) addMembers(names, '', JSON.parse(body))
  return [...names].sort()
}

function addMembers(names, prefix, members) {
  for (const [key, value] of Object.entries(members)) {
    const name = prefix === '' ? key : `${prefix}[${key}]`
    const first = Array.isArray(value) ? value[0] : value
    const isObject = typeof first === 'object' && first !== null && Object.keys(first).length > 0 && !isFile(first)
    if (isObject) addMembers(names, Array.isArray(value) ? `${name}[]` : name, first)
    else names.add(name)
  }
}

/**
 * Calls a method with all options. Options that change the path or the encoding, such as `projectId` and `groupId`, exclude
 * each other, so every combination of them is tried.
 */
async function requestsOf(recorder, resource, method, parameters) {
  const call = async (isChosen) => {
    recorder.last = undefined
    const chosen = parameters.map(({ value, options }) =>
      options === undefined ? value : Object.fromEntries(Object.entries(options).filter(([key]) => isChosen(key))),
    )
    try {
      await resource[method](...chosen)
    } catch {
      // A combination that the method rejects sends nothing.
    }
    return recorder.last
  }
  const keys = [...new Set(parameters.flatMap(({ options }) => Object.keys(options ?? {})))]
  const kindOf = (sent) => sent && `${sent.method} ${sent.path} ${sent.isForm}`
  const plain = kindOf(await call(() => false))
  const full = keys.length < 2 ? plain : kindOf(await call(() => true))
  const steering = []
  for (const key of keys) {
    const alone = kindOf(await call((other) => other === key))
    const missing = kindOf(await call((other) => other !== key))
    if (alone !== plain || missing !== full) steering.push(key)
  }
  const found = []
  for (const subset of subsetsOf(steering.slice(0, 6))) {
    const sent = await call((key) => subset.has(key) || !steering.includes(key))
    if (sent !== undefined && !sent.path.includes('undefined')) found.push(sent)
  }
  return found.map(({ isForm: _, ...request }) => request)
}

function subsetsOf(keys) {
  return keys.reduce((subsets, key) => subsets.flatMap((subset) => [subset, new Set([...subset, key])]), [new Set()])
}

/** Reads the resources' types. Every type checker call crosses a process, so only what is needed is asked. */
function openTypes() {
  const directory = join(import.meta.dirname, '../../../node_modules/.cache/client-parameters')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const source = join(directory, 'resources.ts')
  const config = join(directory, 'tsconfig.json')
  const options = {
    module: 'nodenext',
    moduleResolution: 'nodenext',
    target: 'es2022',
    strict: true,
    noEmit: true,
    types: [],
  }
  const declarations = resources.map(([name]) => `export type ${name} = InstanceType<typeof core.${name}>\n`)
  writeFileSync(config, JSON.stringify({ compilerOptions: options, files: [source] }))
  writeFileSync(source, `import type * as core from '@gitbeaker/core'\n${declarations.join('')}`)
  const api = new API()
  const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects()
  const { checker, program } = project
  const typeByName = new Map(
    program
      .getSourceFile(source)
      .statements.filter(({ type }) => type !== undefined)
      .map(({ name, type }) => [name.text, type]),
  )
  return {
    close: () => api.close(),
    methodsOf(name) {
      const type = checker.getTypeFromTypeNode(typeByName.get(name))
      return checker.getPropertiesOfType(type).map((property) => {
        const signatures = checker.getSignaturesOfType(checker.getTypeOfSymbol(property), SignatureKind.Call)
        return [property.name, signatures.map((signature) => parametersOf(checker, signature))]
      })
    },
  }
}

const parametersOf = (checker, signature) =>
  signature.getParameters().map((_, index) => {
    const type = checker.getParameterType(signature, index)
    const options = membersOf(checker, type, 0)
    return options.size > 0 ? { options: Object.fromEntries(options) } : { value: sampleOf(checker, type, 0) }
  })

/** Returns the value of each member that the objects of a type can have. */
function membersOf(checker, type, depth) {
  const members = new Map()
  for (const part of partsOf(checker, type)) {
    if (!part.isObjectType() || isFileOrList(checker, part)) continue
    for (const property of checker.getPropertiesOfType(part)) {
      const value = sampleOf(checker, checker.getTypeOfSymbol(property), depth + 1)
      if (value === undefined) continue
      const before = members.get(property.name)
      members.set(property.name, isPlain(before) && isPlain(value) ? { ...before, ...value } : (before ?? value))
    }
  }
  return members
}

const isPlain = (value) =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
const isFileOrList = (checker, type) =>
  checker.isArrayLikeType(type) || ['Blob', 'File', 'Date', 'Function'].includes(type.getSymbol()?.name ?? '')

/** Returns the types that a value may have, without unions, intersections and conditions. */
function partsOf(checker, type, seen = new Set()) {
  if (type === undefined || seen.has(type.id)) return []
  seen.add(type.id)
  if (type.isUnionType() || type.isIntersectionType()) {
    return type.getTypes().flatMap((part) => partsOf(checker, part, seen))
  }
  if (type.isConditionalType()) {
    return [type.getTrueType(), type.getFalseType()].flatMap((part) => partsOf(checker, part, seen))
  }
  if (type.isTypeParameter()) return partsOf(checker, checker.getBaseConstraintOfType(type), seen)
  if (type.isIndexedAccessType()) return partsOf(checker, checker.getBaseConstraintOfType(type), seen)
  return [type]
}

/** Returns a value of a type, or `undefined` if it has no value that can be sent. */
function sampleOf(checker, type, depth) {
  const parts = partsOf(checker, type)
  if (depth < MAX_DEPTH) {
    const members = membersOf(checker, type, depth)
    if (members.size > 0) return Object.fromEntries(members)
  }
  for (const part of parts) {
    const value = plainSampleOf(checker, part, depth)
    if (value !== undefined) return value
  }
  return undefined
}

function plainSampleOf(checker, type, depth) {
  if (type.isLiteralType()) return type.value
  if (type.flags & (TypeFlags.String | TypeFlags.TemplateLiteral | TypeFlags.Any | TypeFlags.Unknown)) return TEXT
  if (type.flags & TypeFlags.Number) return NUMBER
  if (type.flags & TypeFlags.Boolean) return true
  if (!type.isObjectType()) return undefined
  if (checker.isArrayLikeType(type)) {
    const [element] = checker.getTypeArguments(type)
    return [(element && sampleOf(checker, element, depth)) ?? TEXT]
  }
  const name = type.getSymbol()?.name
  if (name === 'Blob' || name === 'File') return new Blob(['content'])
  return name === 'Function' ? undefined : TEXT
}
