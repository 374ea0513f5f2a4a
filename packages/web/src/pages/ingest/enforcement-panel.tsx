import { useState } from 'preact/hooks'
import type { EnforcementMode, EnforcementState, Readiness } from '../../api/answers.ts'
import type { Tagged } from '../../api/client.ts'
import { getReadiness } from '../../api/readiness.ts'
import { refusedNames } from '../../api/refused-names.ts'
import { may } from '../../app/session.ts'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Failure, Notice } from '../../components/page-states.tsx'
import type { Resource } from '../../components/resource.ts'
import { Status } from '../../components/status.tsx'
import { Switch } from '../../components/switch.tsx'
import { Time } from '../../components/text.tsx'
import {
  modeRow,
  modes,
  parseGrace,
  refusalSummary,
  refusesClients,
  type StateChange,
  stateChange,
  stateSummary,
  toMode,
} from './enforcement-model.ts'
import { FormField } from './form-field.tsx'
import { GateFigure } from './gate-figure.tsx'
import { setState } from './management-api.ts'
import { ProblemNotice } from './problem-notice.tsx'
import { useAction } from './use-action.ts'

/** The length of the report that the page shows. */
interface ReportWindow {
  readonly value: string
  readonly name: string
}

interface EnforcementPanelProps {
  readonly state: Resource<Tagged<EnforcementState>>
  readonly readiness: Resource<Readiness>
  readonly report: ReportWindow
  readonly announce: (text: string) => void
  readonly onChanged: () => void
}

/** The switch, its modes, and what they would do to the clients of the last day. */
export function EnforcementPanel({ state, readiness, report, announce, onChanged }: EnforcementPanelProps) {
  if (state.data === undefined) {
    return (
      <section class="panel gate" aria-label="Enforcement" aria-busy={state.isLoading}>
        {state.error === undefined ? (
          <div class="say skeletons">
            <span class="skeleton" />
            <span class="skeleton" />
            <span class="skeleton" />
          </div>
        ) : (
          <Failure title="The state could not be loaded." error={state.error} onRetry={state.reload} />
        )}
      </section>
    )
  }
  const { data } = state.data
  const summary = stateSummary(data)
  return (
    <section class="panel gate" aria-label="Enforcement">
      <div class="say">
        {may('Editor') ? (
          <Controls
            shown={state.data}
            readiness={readiness.data}
            report={report}
            announce={announce}
            onChanged={onChanged}
          />
        ) : (
          <>
            <div class="controls">
              <span class="strong">Ingest enforcement</span>
              <Status isChip meaning={summary.tone}>
                {summary.text}
              </Status>
            </div>
            <p class="soft">
              {modeRow(data.mode).effect} To change this, sign in with a key of the role Editor or Admin.
            </p>
            <Findings state={data} readiness={readiness.data} report={report} />
          </>
        )}
        <p class="dim">
          {readiness.data === undefined ? null : (
            <>
              Watched since <Time at={readiness.data.observed_since} precision="minute" />.{' '}
            </>
          )}
          {data.changed_at === null ? null : (
            <>
              Last changed <Time at={data.changed_at} precision="minute" />.{' '}
            </>
          )}
          {data.propagation.applied < data.propagation.instances
            ? `${data.propagation.applied} of ${data.propagation.instances} processes have applied the change.`
            : null}
        </p>
      </div>
      {readiness.data === undefined ? null : <GateFigure mode={data.mode} readiness={readiness.data} />}
    </section>
  )
}

interface ControlsProps {
  readonly shown: Tagged<EnforcementState>
  readonly readiness: Readiness | undefined
  readonly report: ReportWindow
  readonly announce: (text: string) => void
  readonly onChanged: () => void
}

function Controls({ shown, readiness, report, announce, onChanged }: ControlsProps) {
  const { data } = shown
  const [chosen, setChosen] = useState<EnforcementMode>()
  const [grace, setGrace] = useState('')
  const [confirming, setConfirming] = useState<{ readonly change: StateChange; readonly readiness: Readiness }>()
  const action = useAction()
  const mode = chosen ?? data.mode
  const summary = stateSummary(data)

  const apply = async (change: StateChange) => {
    try {
      await setState(change, shown)
      setChosen(undefined)
      announce(`Ingest enforcement is now ${change.enabled ? 'on' : 'off'}, mode ${modeRow(change.mode).name}.`)
    } finally {
      setConfirming(undefined)
      onChanged()
    }
  }
  /** Sets a mode at once, or asks first if clients that get in now would be refused. */
  const request = (next: EnforcementMode) => {
    const parsed = parseGrace(grace)
    if ('problem' in parsed) return action.refuse({ grace: parsed.problem })
    const change = stateChange(next, parsed.seconds)
    action.run(async () => {
      // The report that the page shows may be old.
      const current = next === 'enforce' ? await getReadiness(report.value) : readiness
      if (current !== undefined && refusesClients(data.mode, next, current))
        setConfirming({ change, readiness: current })
      else await apply(change)
    })
  }
  return (
    <>
      <div class="controls">
        <Switch isOn={data.enabled} onChange={(isOn) => request(toMode(isOn))}>
          <span class="strong">Ingest enforcement</span>
        </Switch>
        <Status isChip meaning={summary.tone}>
          {summary.text}
        </Status>
      </div>
      <p class="soft">
        With enforcement on, telemetry without a valid token is refused at once. Nothing needs a restart, and you can
        turn it off again.
      </p>
      <Findings state={data} readiness={readiness} report={report} />
      <form
        class="controls top"
        onSubmit={(event) => {
          event.preventDefault()
          request(mode)
        }}
      >
        <FormField label="Mode" hint={modeRow(mode).effect}>
          {(control) => (
            <select
              {...control}
              value={mode}
              onChange={(event) => setChosen(event.currentTarget.value as EnforcementMode)}
            >
              {modes.map((row) => (
                <option key={row.mode} value={row.mode}>
                  {row.name}
                </option>
              ))}
            </select>
          )}
        </FormField>
        <FormField
          label="Grace"
          error={action.fieldErrors.grace}
          hint={
            data.grace_until === null ? (
              'After enforcement starts, clients may retry for this long.'
            ) : (
              <>
                Ends at <Time at={data.grace_until} precision="second" />.
              </>
            )
          }
        >
          {(control) => (
            <input
              {...control}
              value={grace}
              placeholder="none, or 15 min"
              autocomplete="off"
              onInput={(event) => setGrace(event.currentTarget.value)}
            />
          )}
        </FormField>
        <button class="btn save" type="submit" aria-disabled={action.isBusy}>
          Save
        </button>
      </form>
      <ProblemNotice problem={action.problem} />
      {confirming === undefined ? null : (
        <ConfirmDialog
          title="Enforce ingest tokens?"
          onCancel={() => setConfirming(undefined)}
          onConfirm={() => action.run(() => apply(confirming.change))}
        >
          <RefusedList readiness={confirming.readiness} report={report} />
          <p class="soft">
            {(confirming.change.grace_seconds ?? 0) > 0
              ? 'They are refused from now on. During the grace period they are asked to retry, and lose nothing.'
              : 'They are refused from now on, and most clients drop what is refused.'}
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}

/** Shows who would be refused if enforcement were turned on, judged by the last day. */
function Findings({
  state,
  readiness,
  report,
}: {
  readonly state: EnforcementState
  readonly readiness: Readiness | undefined
  readonly report: ReportWindow
}) {
  if (state.mode !== 'enforce' && readiness !== undefined && readiness.clients.length > 0) {
    const { lead, rest } = refusalSummary(readiness, report.name)
    return (
      <Notice meaning="warning">
        <b>{lead}</b> {rest}
      </Notice>
    )
  }
  if (state.valid_tokens > 0) return null
  return (
    <Notice meaning="warning">
      <b>There is no valid token.</b>{' '}
      {state.mode === 'enforce' ? 'All telemetry is refused.' : 'With enforcement on, all telemetry would be refused.'}{' '}
      Create a token first.
    </Notice>
  )
}

const MAX_NAMES = 10

function RefusedList({ readiness, report }: { readonly readiness: Readiness; readonly report: ReportWindow }) {
  const { services, unnamed } = refusedNames(readiness.clients)
  return (
    <>
      <p>
        <b>{refusalSummary(readiness, report.name).lead}</b>
      </p>
      <ul class="names">
        {services.slice(0, MAX_NAMES).map((service) => (
          <li key={service}>{service}</li>
        ))}
        {services.length > MAX_NAMES ? <li class="soft">and {services.length - MAX_NAMES} more services</li> : null}
        {unnamed > 0 ? <li class="soft">{unnamed} that state no service</li> : null}
      </ul>
    </>
  )
}
