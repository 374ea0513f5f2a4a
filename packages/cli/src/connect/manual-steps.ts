import type { ForgeName } from '@penstock/forges'

/** Where the webhook is entered, for forges without an API for that, and which credential it takes. */
const placeByForge: Partial<Readonly<Record<ForgeName, string>>> = {
  circleci: 'Project Settings → Webhooks: the events Workflow Completed and Job Completed, with the secret token',
  buildkite:
    'Settings → Notification Services → Webhook: the events build.finished and job.finished, with the signature',
  azure: 'Project settings → Service hooks → Web Hooks: the event Build completed, with user name and password',
  bitbucket: 'Repository settings → Webhooks: the trigger Build status updated, with the secret',
  drone: 'the settings of the server: DRONE_WEBHOOK_ENDPOINT, and DRONE_WEBHOOK_SECRET',
  jenkins:
    'the job’s notifications (Notification plugin): format JSON, protocol HTTP, event Job Finalized, with a bearer token',
}

/** Returns the steps that are left to do by hand. The secret is not in them. */
export function manualSteps(forge: ForgeName, url: string, sourcesFile: string): readonly string[] {
  const place = placeByForge[forge]
  if (place === undefined)
    return [`${forge} sends no webhooks: run penstock backfill regularly, which sends each run once`]
  return [
    `penstock does not install webhooks of ${forge}; enter it there:`,
    `  where: ${place}`,
    `  URL: ${url}`,
    `  secret: the secretToken of the source in ${sourcesFile}`,
  ]
}
