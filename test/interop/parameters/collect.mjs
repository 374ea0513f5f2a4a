#!/usr/bin/env node
/*
 * Writes client-parameters.json: each parameter that python-gitlab, gitbeaker and client-go can send, by endpoint. Each client
 * runs with a server or a requester that only records, and with everything set that its types allow.
 *
 *   node test/interop/parameters/collect.mjs
 *
 * Takes Go, and the virtual environment that prepare.mjs makes. Run it after an update of a client, and commit the result.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { gitbeakerRequests } from './gitbeaker.mjs'

const here = import.meta.dirname
process.noDeprecation = true

const fromGitbeaker = await gitbeakerRequests()
for (const line of fromGitbeaker.silent) console.error(line)
const requestsByClient = {
  'client-go': output('go', ['run', '.'], join(here, 'client-go')),
  gitbeaker: fromGitbeaker.requests,
  'python-gitlab': output(pythonPath(), ['python_gitlab.py'], here),
}

const endpoints = new Map()
for (const [client, requests] of Object.entries(requestsByClient)) {
  for (const { method, path, parameters } of requests) {
    if (!isRestPath(path)) continue
    const call = `${method} ${path}`
    if (!endpoints.has(call)) endpoints.set(call, new Map())
    for (const name of parameters) {
      const clients = endpoints.get(call).get(name) ?? new Set()
      endpoints.get(call).set(name, clients.add(client))
    }
  }
}
const content = {
  clients: { 'client-go': goVersion(), gitbeaker: gitbeakerVersion(), 'python-gitlab': pythonVersion() },
  endpoints: sorted(endpoints, (parameters) => sorted(parameters, (clients) => [...clients].join(' '))),
}
writeFileSync(join(here, 'client-parameters.json'), `${JSON.stringify(content, null, 2)}\n`)

/** Returns whether a path is complete. Base classes of gitbeaker have no kind of parent, so theirs begin with an argument. */
function isRestPath(path) {
  return /^\/[a-z]/.test(path) && !path.startsWith('/api/') && !path.includes('//')
}

function sorted(map, convert) {
  const entries = [...map].sort(([a], [b]) => (byPath(a) < byPath(b) ? -1 : 1))
  return Object.fromEntries(entries.map(([key, value]) => [key, convert(value)]))
}

/** Endpoints are sorted by their path, then by their method. */
function byPath(key) {
  return key.split(' ').reverse().join(' ')
}

function output(command, args, cwd) {
  const { error, status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (error !== undefined || status !== 0) throw error ?? new Error(`${command} ${args.join(' ')}: ${stderr}`)
  process.stderr.write(stderr)
  return JSON.parse(stdout)
}

function pythonPath() {
  const paths = spawnSync(process.execPath, [join(here, '..', 'prepare.mjs'), '--print-paths'], { encoding: 'utf8' })
  return JSON.parse(paths.stdout).python
}

function goVersion() {
  return /^ (v\S+)/.exec(readFileSync(join(here, 'client-go', 'go.mod'), 'utf8').split('client-go/v2')[1])[1]
}

function gitbeakerVersion() {
  return createRequire(import.meta.url)('../../../node_modules/@gitbeaker/core/package.json').version
}

function pythonVersion() {
  return /^python-gitlab==(.+)$/m.exec(readFileSync(join(here, '..', 'python', 'requirements.txt'), 'utf8'))[1]
}
