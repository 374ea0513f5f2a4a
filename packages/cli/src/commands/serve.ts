import { Argument, type Command, Option } from 'commander'
import type { CommandDefinition } from '../command-definition.ts'
import { serveCoreAlone } from '../core/serve-core-alone.ts'
import { serveWorker } from '../exporting/serve-worker.ts'
import { integerFrom } from '../input-flags.ts'
import { readSettings } from '../serve/read-settings.ts'
import { serve } from '../serve/serve.ts'

const examples = `
Roles: gateway is the gate before an OTLP backend, with the embedded store behind it when no upstream is set; core is the REST API
with its users, groups, projects and tokens, the intake of pipelines, and their export; all is both. worker only exports what has
been taken in, beside any number of others on the same database.

Settings come from variables or a JSON file; docs/configuration.md lists them. The first start prints an Admin API key,
and an administrator's token, once. SIGTERM ends in order: not ready, ports closed after a while, everything under way answered. SIGINT does so at once.

Examples:
  $ penstock serve
  $ penstock serve core
  $ PENSTOCK_OBS_LISTEN=127.0.0.1:8082 penstock serve worker
  $ PENSTOCK_UPSTREAM=http://127.0.0.1:14318 penstock serve gateway --workers 2

Exit codes: 0 ended when asked to, 2 usage, configuration or a busy port.
`

export const serveCommand: CommandDefinition = {
  name: 'serve',
  endsWhenInterrupted: true,
  define: (command: Command) => {
    command
      .summary('the core, the gateway, its API and the embedded store')
      .description('Serves until it is told to end.')
      .addArgument(new Argument('[role]', 'what to serve').choices(['all', 'core', 'gateway', 'worker']).default('all'))
      .addOption(new Option('--config <file>', 'JSON file of settings'))
      .addOption(new Option('--data-dir <directory>', 'where databases lie (default: ./data)'))
      .addOption(
        new Option('--workers <count>', 'processes that take telemetry in').argParser(integerFrom(1, 64)).default(1),
      )
      .addOption(
        new Option(
          '--sample',
          'makes a sample workspace when the data directory is new, whose pipelines go to the embedded store',
        ),
      )
      .addHelpText('after', examples)
  },
  run: ([role = 'all'], flags, environment) => {
    const given = flags.dataDir === undefined ? {} : { dataDir: flags.dataDir as string }
    const settings = readSettings(flags.config as string | undefined, environment.env, given)
    if (role === 'core') return serveCoreAlone(settings, environment)
    if (role === 'worker') return serveWorker(settings, environment)
    const options = { settings, workers: flags.workers as number, isSampled: flags.sample === true }
    return serve({ ...options, withCore: role === 'all' }, environment)
  },
}
