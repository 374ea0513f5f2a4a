/** A programming or markup language, with the colour in which forges draw it. */
interface Language {
  readonly name: string
  readonly color: string
}

/** The colour and the file name endings of each language, by name. Data formats and prose are not treated as languages. */
const table: Readonly<Record<string, readonly [color: string, ...endings: string[]]>> = {
  Assembly: ['#6E4C13', 'asm', 's'],
  C: ['#555555', 'c', 'h'],
  'C#': ['#178600', 'cs'],
  'C++': ['#f34b7d', 'cc', 'cpp', 'cxx', 'hh', 'hpp'],
  CSS: ['#663399', 'css'],
  Clojure: ['#db5855', 'clj', 'cljs'],
  CoffeeScript: ['#244776', 'coffee'],
  Dart: ['#00B4AB', 'dart'],
  Dockerfile: ['#384d54', 'dockerfile'],
  Elixir: ['#6e4a7e', 'ex', 'exs'],
  Erlang: ['#B83998', 'erl'],
  'F#': ['#b845fc', 'fs'],
  Go: ['#00ADD8', 'go'],
  Groovy: ['#4298b8', 'groovy', 'gradle'],
  HCL: ['#844FBA', 'hcl', 'tf'],
  HTML: ['#e34c26', 'html', 'htm'],
  Haskell: ['#5e5086', 'hs'],
  Java: ['#b07219', 'java'],
  JavaScript: ['#f1e05a', 'js', 'cjs', 'jsx', 'mjs'],
  Julia: ['#a270ba', 'jl'],
  Kotlin: ['#A97BFF', 'kt', 'kts'],
  Lua: ['#000080', 'lua'],
  Makefile: ['#427819', 'makefile', 'mk'],
  Nix: ['#7e7eff', 'nix'],
  'Objective-C': ['#438eff', 'm'],
  PHP: ['#4F5D95', 'php'],
  Perl: ['#0298c3', 'pl', 'pm'],
  PowerShell: ['#012456', 'ps1'],
  Python: ['#3572A5', 'py'],
  R: ['#198CE7', 'r'],
  Ruby: ['#701516', 'rb'],
  Rust: ['#dea584', 'rs'],
  SCSS: ['#c6538c', 'scss'],
  Scala: ['#c22d40', 'scala'],
  Shell: ['#89e051', 'bash', 'sh', 'zsh'],
  Swift: ['#F05138', 'swift'],
  TypeScript: ['#3178c6', 'ts', 'cts', 'mts', 'tsx'],
  Vue: ['#41b883', 'vue'],
  Zig: ['#ec915c', 'zig'],
}

const byEnding = new Map(
  Object.entries(table).flatMap(([name, [color, ...endings]]) => {
    const language: Language = { name, color }
    return endings.map((ending) => [ending, language] as const)
  }),
)

/** Returns the language of a file by the end of its name, or by its whole name; `undefined` if it has none. */
export const languageOf = (fileName: string): Language | undefined =>
  byEnding.get(fileName.slice(fileName.lastIndexOf('.') + 1).toLowerCase())

/** The share of a language in a repository, in percent of the bytes of all languages. */
export interface LanguageShare extends Language {
  readonly share: number
}

/** Returns the shares of languages, the largest first. */
export function sharesOf(files: Iterable<readonly [fileName: string, bytes: number]>): LanguageShare[] {
  const bytesOf = new Map<Language, number>()
  for (const [name, bytes] of files) {
    const language = languageOf(name)
    if (language !== undefined) bytesOf.set(language, (bytesOf.get(language) ?? 0) + bytes)
  }
  const total = [...bytesOf.values()].reduce((sum, bytes) => sum + bytes, 0)
  return [...bytesOf]
    .filter(([, bytes]) => bytes > 0)
    .sort(([, left], [, right]) => right - left)
    .map(([language, bytes]) => ({ ...language, share: Math.round((bytes / total) * PERCENT_OF_HUNDREDTHS) / 100 }))
}

const PERCENT_OF_HUNDREDTHS = 10_000
