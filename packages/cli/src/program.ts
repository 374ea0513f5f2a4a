import { PRODUCT_VERSION } from '@penstock/converter'
import { EndpointError } from '@penstock/exporter'
import { Command, CommanderError } from 'commander'
import { apiKeyCommand } from './commands/api-key.ts'
import { backfillCommand } from './commands/backfill.ts'
import { backupCommand } from './commands/backup.ts'
import { checkCommand } from './commands/check.ts'
import { connectCommand } from './commands/connect.ts'
import { consoleCommand } from './commands/console.ts'
import { convertCommand } from './commands/convert.ts'
import { doctorCommand } from './commands/doctor.ts'
import { exportCommand } from './commands/export.ts'
import { exportQueueCommand } from './commands/export-queue.ts'
import { healthCommand } from './commands/health.ts'
import { hooksCommand } from './commands/hooks.ts'
import { mailCommand } from './commands/mail.ts'
import { migrateCommand } from './commands/migrate.ts'
import { oauthAppCommand } from './commands/oauth-app.ts'
import { restoreCommand } from './commands/restore.ts'
import { schemaCommand } from './commands/schema.ts'
import { serveCommand } from './commands/serve.ts'
import { showCommand } from './commands/show.ts'
import { testReportCommand } from './commands/test-report.ts'
import { tokenCommand } from './commands/token.ts'
import { traceContextCommand } from './commands/trace-context.ts'
import { userCommand } from './commands/user.ts'
import type { CommandDefinition } from './flags/command-definition.ts'
import { type Environment, exitCodes, OutputClosed, OutputError, UsageError } from './process/environment.ts'
import { printable } from './text/wording.ts'

const commands: readonly CommandDefinition[] = [
  convertCommand,
  exportCommand,
  backfillCommand,
  connectCommand,
  exportQueueCommand,
  showCommand,
  checkCommand,
  schemaCommand,
  traceContextCommand,
  testReportCommand,
  serveCommand,
  tokenCommand,
  apiKeyCommand,
  consoleCommand,
  userCommand,
  oauthAppCommand,
  hooksCommand,
  mailCommand,
  migrateCommand,
  backupCommand,
  restoreCommand,
  doctorCommand,
  healthCommand,
]

const examples = `
Examples:
  $ penstock show hook.json
  $ penstock check hook.json
  $ penstock convert hook.json | jq .
  $ penstock export hooks.ndjson --endpoint http://127.0.0.1:4318

Run penstock <command> --help for the arguments and flags of a command.
`

/**
 * Runs the command that the arguments name.
 *
 * @returns the exit code; throws only for bugs
 */
export async function runProgram(args: readonly string[], environment: Environment): Promise<number> {
  let exitCode: number = exitCodes.ok
  let endsWhenInterrupted = false
  const program = newProgram(environment)
  for (const definition of commands) {
    const command = program.command(definition.name)
    definition.define(command)
    command.action(async () => {
      endsWhenInterrupted = definition.endsWhenInterrupted ?? false
      exitCode = await definition.run(command.args, command.opts(), environment)
    })
  }
  try {
    await program.parseAsync(args, { from: 'user' })
    return environment.signal.aborted && !endsWhenInterrupted ? exitCodes.interrupted : exitCode
  } catch (error) {
    if (environment.signal.aborted) return exitCodes.interrupted
    if (error instanceof OutputClosed) return exitCodes.ok
    if (error instanceof CommanderError) return exitCodeOf(error)
    const isUsage = error instanceof UsageError || error instanceof EndpointError
    if (!(isUsage || error instanceof OutputError)) throw error
    const lines = error instanceof UsageError ? error.lines : [error.message]
    for (const line of lines) environment.stderr.write(`penstock: ${printable(line)}\n`)
    return isUsage ? exitCodes.usage : exitCodes.incomplete
  }
}

function newProgram({ stdout, stderr }: Environment): Command {
  return new Command('penstock')
    .description('CI/CD pipelines as OpenTelemetry traces, metrics and logs.')
    .version(PRODUCT_VERSION)
    .addHelpText('after', examples)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, print) => print(`penstock: ${onOneLine(withoutValues(text.replace(/^error: /, '')))}\n`),
      getOutHelpWidth: () => stdout.columns ?? 100,
      getErrHelpWidth: () => stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
}

/** Returns the exit code of a commander error: 0 if help or version was requested, else that of a usage error. */
function exitCodeOf({ code }: CommanderError): number {
  return code === 'commander.helpDisplayed' || code === 'commander.version' ? exitCodes.ok : exitCodes.usage
}

/** Removes the value of a flag, because a misspelled flag may have a secret: `'--tokn=secret'` → `'--tokn'`. */
const withoutValues = (text: string): string => text.replace(/'(-[^'=]*)=.*'/s, "'$1'")

const onOneLine = (text: string): string => printable(text.trim().replaceAll('\n', ' '))
