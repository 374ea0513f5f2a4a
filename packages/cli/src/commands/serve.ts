import { jsonLog } from '@penstock/runtime'
import { Argument, type Command, Option, type OptionValues } from 'commander'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { integerFrom } from '../input/input-flags.ts'
import { type Environment, UsageError } from '../process/environment.ts'
import { ignoreHangup } from '../process/hangup.ts'
import { sampleDefaults } from '../samples/sample-workspace.ts'
import { serve } from '../serve/serve.ts'
import { serveCoreAlone } from '../serve/serve-core-alone.ts'
import { serveObserve } from '../serve/serve-observe.ts'
import { serveWorker } from '../serve/serve-worker.ts'
import { readSettings } from '../settings/read-settings.ts'

const examples = `
Roles: gateway authenticates requests in front of an OTLP backend, or of the embedded store if no upstream is set; core is the
REST API with its users, groups, projects and tokens, the intake of pipelines, and their export; all is both. worker only exports
recorded pipelines; any number of workers can share a database. observe is only the console, the queries over ClickHouse and the API of
gateways on other hosts; any number of them can share a database with the gateways.

Settings are read from variables or a JSON file; docs/reference/configuration.md lists them. The first start prints a sign-in link of the
console, an Admin API key and an administrator's token; they are not shown again. On SIGTERM, the service reports not ready, closes
its ports after a delay, and answers the requests in progress. On SIGINT, it closes its ports immediately. SIGHUP is ignored.

Examples:
  $ penstock serve
  $ penstock serve core
  $ PENSTOCK_OBS_LISTEN=127.0.0.1:8082 penstock serve worker
  $ PENSTOCK_UPSTREAM=http://127.0.0.1:14318 penstock serve gateway --workers 2
  $ PENSTOCK_OBS_LISTEN=127.0.0.1:8083 penstock serve observe --config observe.json

Exit codes: 0 stopped by a signal, 2 usage, configuration or a port in use.
`

export const serveCommand: CommandDefinition = {
  name: 'serve',
  endsWhenInterrupted: true,
  define: (command: Command) => {
    command
      .summary('runs the core, the gateway, its API and the embedded store')
      .description('Serves until it is stopped by a signal.')
      .addArgument(
        new Argument('[role]', 'the part to serve')
          .choices(['all', 'core', 'gateway', 'worker', 'observe'])
          .default('all'),
      )
      .addOption(new Option('--config <file>', 'JSON file with settings'))
      .addOption(new Option('--data-dir <directory>', 'directory of the databases (default: ./data)'))
      .addOption(
        new Option('--workers <count>', 'number of processes that receive telemetry')
          .argParser(integerFrom(1, 64))
          .default(1),
      )
      .addOption(
        new Option(
          '--sample',
          'creates a sample workspace in a new data directory, and exports its pipelines to the embedded store',
        ),
      )
      .addOption(
        new Option(
          '--new-store',
          'accepts that a database is empty or another one, although the data directory was used before',
        ),
      )
      .addHelpText('after', examples)
  },
  run: async (inputs, flags, environment) => {
    const stop = ignoreHangup(jsonLog(environment.stderr, () => environment.clock.nowMs()))
    try {
      return await serveRole(inputs, flags, environment)
    } finally {
      stop()
    }
  },
}

function serveRole([role = 'all']: readonly string[], flags: OptionValues, environment: Environment): Promise<number> {
  const given = flags.dataDir === undefined ? {} : { dataDir: flags.dataDir as string }
  const defaults = flags.sample === true ? sampleDefaults : {}
  const settings = readSettings(flags.config as string | undefined, environment.env, given, defaults)
  const acceptsNewStore = flags.newStore === true
  if (role === 'core') return serveCoreAlone(settings, environment, acceptsNewStore)
  if (role === 'worker') {
    if (acceptsNewStore) throw new UsageError('serve worker has no --new-store')
    return serveWorker(settings, environment)
  }
  if (role === 'observe') {
    if (flags.sample === true || flags.workers !== 1)
      throw new UsageError('serve observe has neither --sample nor --workers')
    return serveObserve(settings, environment, acceptsNewStore)
  }
  const options = { settings, workers: flags.workers as number, isSampled: flags.sample === true, acceptsNewStore }
  return serve({ ...options, withCore: role === 'all' }, environment)
}
