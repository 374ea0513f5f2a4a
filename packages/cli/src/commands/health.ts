import { Argument, type Command, Option } from 'commander'
import { settingsOf } from '../core/core-operator.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { type Environment, exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { addStoreFlags } from '../serve/operator.ts'
import type { Settings } from '../settings/setting-table.ts'

const ANSWER_DEADLINE_MS = 5_000

const roles = ['all', 'core', 'gateway', 'worker', 'observe'] as const
type Role = (typeof roles)[number]

export const healthCommand: CommandDefinition = {
  name: 'health',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('asks the running service whether it is ready')
        .description(
          'Asks the service on the addresses of the settings whether it is ready, as a health check of a container.',
        )
        .addArgument(new Argument('[role]', 'the part that is served').choices(roles).default('all'))
        .addOption(new Option('--url <url>', 'the URL to ask instead')),
    ).addHelpText('after', '\nExit codes: 0 ready, 1 not ready or no answer, 2 a setting cannot be read.\n')
  },
  run: async ([role = 'all'], flags, environment) => {
    const url = (flags.url as string | undefined) ?? readinessUrl(role as Role, settingsOf(flags, environment.env))
    const problem = await problemOf(url, environment)
    if (problem === undefined) {
      await write(environment.stdout, 'ready\n')
      return exitCodes.ok
    }
    await write(environment.stderr, `${url}: ${problem}\n`)
    return exitCodes.incomplete
  },
}

/** Returns the URL that shows whether the service of these settings is ready. An address that represents all is asked on loopback. */
function readinessUrl(role: Role, settings: Settings): string {
  const [{ host, port }, path] =
    role === 'core' ? [settings['core.listen'], '/-/readiness'] : [settings['observability.listen'], '/readyz']
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}${path}`
}

/** Returns why the service is not ready; `undefined` if it is. */
async function problemOf(url: string, { signal }: Environment): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_DEADLINE_MS)]) })
    await response.arrayBuffer()
    return response.ok ? undefined : `answered ${response.status}`
  } catch (error) {
    const { cause, message } = error as Error
    return cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : message
  }
}
