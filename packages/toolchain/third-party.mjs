/*
 * Finds the third-party packages in our packages, and their licences.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The licences that permit redistribution in a bundle, provided that their text is included. */
const allowedLicences = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
])
const licenceFile = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i

/**
 * Returns the name, version, licence and licence text of the package in a directory. Without a licence file the text names the
 * copyright holder.
 *
 * @throws {Error} if its licence is not allowed
 */
export function thirdPartyPackage(directory) {
  const { name, version, license, licenses, author } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  // Older packages have a list of objects.
  const [licence] = [license, ...(licenses ?? [])].flatMap((each) => each?.type ?? each ?? [])
  if (!isAllowed(licence))
    throw new Error(`${name}@${version} has the licence ${licence ?? '(none)'}, which is not on the list`)
  const texts = readdirSync(directory)
    .filter((file) => licenceFile.test(file))
    .toSorted()
    .map((file) => readFileSync(join(directory, file), 'utf8').replaceAll('\r\n', '\n').trim())
  const holder = typeof author === 'object' ? author?.name : author
  return { name, version, licence, text: texts.join('\n\n') || `Copyright: ${holder ?? `the authors of ${name}`}` }
}

/** Returns whether an SPDX expression permits redistribution: all licences joined by `AND` must be allowed, and one of those by `OR`. */
function isAllowed(expression) {
  if (typeof expression !== 'string') return false
  // Parentheses are evaluated from the inside, and replaced by a licence with the same result.
  const flat = expression.replace(/\(([^()]*)\)/g, (_, inner) => (isAllowed(inner) ? 'MIT' : 'NONE'))
  if (flat !== expression) return isAllowed(flat)
  return flat
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((licence) => allowedLicences.has(licence.trim())))
}

/** Returns the text of a file with the licences of packages, ordered by name. A text that packages share appears once, below their names. */
export function licencesText(packages) {
  const byText = new Map()
  for (const { name, version, licence, text } of packages.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const key = `${licence}\n\n${text}`
    byText.set(key, [...(byText.get(key) ?? []), `${name} ${version}`])
  }
  const parts = [...byText].map(([text, names]) => `${[...new Set(names)].join('\n')}\n\n${text}`)
  return `This program contains the packages below, each under its own licence.\n\n${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/**
 * Returns the directories of an installed package and of its dependencies, direct and indirect, found as Node finds them.
 *
 * @param from the directory of the package that depends on it
 * @param found the set that the directories are added to
 */
export function installedClosure(name, from, found = new Set()) {
  const directory = findInstalled(name, from)
  if (directory === undefined || found.has(directory)) return found
  found.add(directory)
  const { dependencies = {} } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  for (const needed of Object.keys(dependencies)) installedClosure(needed, directory, found)
  return found
}

function findInstalled(name, from) {
  for (let place = from; ; place = join(place, '..')) {
    const directory = join(place, 'node_modules', name)
    if (existsSync(join(directory, 'package.json'))) return directory
    if (place === join(place, '..')) return undefined
  }
}
