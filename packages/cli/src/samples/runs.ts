import { SHOWN_PROJECT } from './company.ts'

/** The way in which a job deviates from its recipe. */
export type Fate =
  | { readonly kind: 'fails'; readonly reason: string }
  /** Fails, and a second attempt succeeds. */
  | { readonly kind: 'retried'; readonly reason: string }
  /** A user cancels the pipeline while the job runs. */
  | { readonly kind: 'canceled' }
  /** A user starts the manual job. */
  | { readonly kind: 'played'; readonly afterMinutes: number }
  | { readonly kind: 'slow'; readonly times: number }

/** A pipeline run of the sample workspace. */
export interface Run {
  readonly project: string
  readonly recipe: string
  readonly by: string
  /** The hours between the creation of the pipeline and the start of the service. */
  readonly hoursAgo: number
  readonly source: string
  /** The branch or tag. Default: `main`. */
  readonly ref?: string
  readonly isTag?: true
  /** The title of the commit. */
  readonly title: string
  readonly change?: Change
  /** The fates by job name, including jobs of pipelines that bridges start. */
  readonly fates?: Readonly<Record<string, Fate>>
  /** Set if the commit of the run is not in the sample repositories. */
  readonly isEarlier?: true
  /** The name of the pipeline from its workflow. */
  readonly name?: string
}

/** A merge request. */
export interface Change {
  readonly project: string
  readonly iid: number
  readonly title: string
  readonly branch: string
  readonly state: 'opened' | 'merged'
}

const storefront = SHOWN_PROJECT
const checkout = 'mossgate/shop/checkout'
const hub = 'mossgate/lockers/hub'
const firmware = 'mossgate/lockers/devices/door-firmware'
const images = 'mossgate/platform/ci-images'
const sites = 'mossgate/platform/sites'

const change = (project: string, iid: number, branch: string, title: string, state: Change['state']): Change => ({
  ...{ project, iid, branch, title, state },
})
const openingHours = change(storefront, 14, 'opening-hours', 'Show when a locker is open', 'merged')
/** The merge request that also exists in the core, where it has the iid 1. */
export const phoneMap = change(storefront, 1, 'phone-map', 'Draft: A map that fits a phone', 'opened')
const quietMotor = change(firmware, 6, 'quiet-motor', 'Close the door with less noise', 'opened')
const vouchers = change(checkout, 9, 'street-vouchers', 'Vouchers for whole streets', 'merged')

type RunDetails = Pick<Run, 'fates' | 'name'>
const started =
  (source: string) =>
  (project: string, recipe: string, by: string, hoursAgo: number, title: string, more: RunDetails = {}): Run => ({
    ...{ project, recipe, by, hoursAgo, source, title },
    ...more,
  })
const pushed = started('push')
const scheduled = started('schedule')
const tagged = (ref: string, run: Run): Run => ({ ...run, ref, isTag: true })
const proposed = (of: Change, run: Run): Run => ({ ...run, source: 'merge_request_event', ref: of.branch, change: of })

const fails = (reason = 'script_failure'): Fate => ({ kind: 'fails', reason })

/** The runs in the order of their start. */
export const runs: readonly Run[] = [
  scheduled(images, 'ci images', 'ines', 47.5, 'A smaller base'),
  proposed(
    openingHours,
    pushed(storefront, 'storefront change', 'priya', 46.1, 'Show when a locker is open', {
      fates: { 'unit 2/3': fails() },
    }),
  ),
  proposed(openingHours, pushed(storefront, 'storefront change', 'priya', 45.4, 'Sundays are days too')),
  pushed(hub, 'hub', 'tomasz', 44.8, 'Ask lockers less often'),
  pushed(firmware, 'firmware', 'tomasz', 43.9, 'Measure the current of the motor', {
    fates: { 'static analysis': fails() },
  }),
  pushed(storefront, 'storefront', 'priya', 43.2, 'Merge opening-hours', {
    fates: { production: { kind: 'played', afterMinutes: 1 } },
  }),
  pushed(checkout, 'checkout', 'ines', 41.7, 'Round half a cent up'),
  pushed(checkout, 'checkout', 'priya', 40.3, 'Keep vouchers apart from prices', {
    fates: { image: { kind: 'retried', reason: 'runner_system_failure' } },
  }),
  scheduled(storefront, 'storefront nightly', 'ines', 33.5, 'Merge opening-hours', {
    name: 'Every screen, every night',
    fates: {
      'tablet 17/64': { kind: 'retried', reason: 'stuck_or_timeout_failure' },
      'phone 40/64': { kind: 'slow', times: 4 },
      screenshots: fails(),
    },
  }),
  scheduled(images, 'ci images', 'ines', 32.9, 'A smaller base', { fates: { 'known faults': fails() } }),
  started('web')(sites, 'roll out', 'amara', 30.2, 'More memory for the pool'),
  pushed(storefront, 'nothing', 'priya', 28.6, 'Spelling [skip ci]'),
  proposed(
    quietMotor,
    pushed(firmware, 'firmware', 'jonas', 27.8, 'Slow down before the stop', {
      fates: { 'power cut': fails('job_execution_timeout') },
    }),
  ),
  proposed(
    vouchers,
    pushed(checkout, 'checkout', 'priya', 26.4, 'Vouchers for whole streets', {
      fates: { 'payments sandbox': fails() },
    }),
  ),
  pushed(hub, 'hub', 'jonas', 25.1, 'Try again when a locker is asleep', { fates: { integration: fails() } }),
  pushed(hub, 'hub', 'jonas', 24.2, 'Try again, and wait in between'),
  tagged('v3.8.0', pushed(checkout, 'checkout release', 'priya', 22.8, 'Version 3.8.0')),
  proposed(
    phoneMap,
    pushed(storefront, 'storefront change', 'priya', 21.5, 'A smaller map', {
      fates: { 'browser 3/4': { kind: 'canceled' } },
    }),
  ),
  proposed(
    phoneMap,
    pushed(storefront, 'storefront change', 'priya', 21.2, 'A smaller map, with a border', {
      fates: { 'browser 3/4': { kind: 'slow', times: 2 } },
    }),
  ),
  scheduled(images, 'ci images', 'ines', 9.6, 'Fix what the scan has found'),
  tagged('v1.12.0', pushed(firmware, 'firmware release', 'jonas', 7.4, 'Version 1.12.0')),
  started('api')(checkout, 'checkout', 'ines', 5.3, 'Vouchers for whole streets'),
  pushed(storefront, 'storefront', 'ines', 3.1, 'Remember the last locker', {
    fates: { staging: fails('runner_system_failure') },
  }),
  pushed(storefront, 'storefront', 'ines', 2.2, 'Remember it on this device only'),
  started('trigger')(sites, 'sites', 'amara', 1.4, 'A second site in the north'),
]
