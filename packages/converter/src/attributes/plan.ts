import type { JobFailure } from '@penstock/forges/record'
import type { InstrumentationScope, Signal } from '@penstock/otlp'
import { type CompiledTable, compileTable } from '../base/attribute-table.ts'
import { resolveBounds } from '../base/bounds.ts'
import type { ConvertOptions } from '../base/options.ts'
import { PRODUCT_VERSION } from '../base/version.ts'
import { idSchemes } from '../run/identity.ts'
import type { JobRun, PipelineRun, RunSettings } from '../run/run.ts'
import type { StepRun } from '../run/steps.ts'
import { failureAttributes } from './failure-attributes.ts'
import { jobAttributes } from './job-attributes.ts'
import { type LinkContext, linkAttributes } from './link-attributes.ts'
import { type LogContext, logAttributes } from './log-attributes.ts'
import { pipelineAttributes } from './pipeline-attributes.ts'
import { type PointContext, pointAttributes } from './point-attributes.ts'
import { resourceAttributes } from './resource-attributes.ts'
import { type StageContext, stageAttributes } from './stage-attributes.ts'
import { stepAttributes } from './step-attributes.ts'

/** The values derived from the options alone, computed once for all records that are converted with them. */
interface ConversionPlan extends RunSettings {
  readonly bounds: readonly number[]
  /** The same objects for every run, so that an encoder encodes them once. */
  readonly scopes: Readonly<Record<Signal, InstrumentationScope>>
  readonly resourceAttributes: CompiledTable<PipelineRun>
  readonly pipelineAttributes: CompiledTable<PipelineRun>
  readonly jobAttributes: CompiledTable<JobRun>
  readonly failureAttributes: CompiledTable<JobFailure>
  readonly stageAttributes: CompiledTable<StageContext>
  readonly stepAttributes: CompiledTable<StepRun>
  readonly linkAttributes: CompiledTable<LinkContext>
  readonly pointAttributes: CompiledTable<PointContext>
  readonly logAttributes: CompiledTable<LogContext>
}

/** A run with the tables for its attributes. */
export type PlannedRun = PipelineRun<ConversionPlan>
export type PlannedJob = JobRun<ConversionPlan>
export type PlannedStep = StepRun<ConversionPlan>

const plans = new WeakMap<ConvertOptions, ConversionPlan>()

export function createPlan(options: ConvertOptions): ConversionPlan {
  let plan = plans.get(options)
  if (plan === undefined) {
    plan = newPlan(options)
    plans.set(options, plan)
  }
  return plan
}

function newPlan(options: ConvertOptions): ConversionPlan {
  const refPattern = options.refLabel === 'all' ? undefined : new RegExp(options.refLabel, 'u')
  return {
    options,
    ids: idSchemes[options.idScheme],
    bounds: resolveBounds(options.bounds),
    scopes: {
      traces: newScope('pipeline', options),
      metrics: newScope('metrics', options),
      logs: newScope('logs', options),
    },
    keepsRef: (ref) => refPattern?.test(ref) ?? true,
    resourceAttributes: compileTable(resourceAttributes, options),
    pipelineAttributes: compileTable(pipelineAttributes, options),
    jobAttributes: compileTable(jobAttributes, options),
    failureAttributes: compileTable(failureAttributes, options),
    stageAttributes: compileTable(stageAttributes, options),
    stepAttributes: compileTable(stepAttributes, options),
    linkAttributes: compileTable(linkAttributes, options),
    pointAttributes: compileTable(pointAttributes, options),
    logAttributes: compileTable(logAttributes, options),
  }
}

function newScope(name: string, { vendorNamespace }: ConvertOptions): InstrumentationScope {
  return {
    name: `${vendorNamespace}-ci-${name}`,
    version: PRODUCT_VERSION,
    attributes: [],
    droppedAttributesCount: 0,
  }
}
