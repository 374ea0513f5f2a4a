import type { CompareQuery, Insights, InsightsQuery, RunComparison } from '../insights/insights-queries.ts'
import type { LiveEvents, LiveQuery } from '../live/live-queries.ts'
import type { Page, Position, SearchedPage } from '../paging/cursor.ts'
import type { ResponseBudget } from '../paging/response-budget.ts'
import type { LogQuery, StoredLogRecord } from '../queries/log-queries.ts'
import type { MetricIntervals, MetricIntervalsQuery } from '../queries/metric-intervals.ts'
import type { MetricName, MetricNameQuery, MetricQuery, StoredMetric } from '../queries/metric-queries.ts'
import type { RunFacets, RunQuery, RunSummary } from '../queries/pipeline-queries.ts'
import type { ServiceSummary } from '../queries/service-queries.ts'
import type { TraceQuery, TraceSummary } from '../queries/trace-queries.ts'
import type { TraceSpansPage, TraceSpansQuery } from '../queries/trace-spans.ts'
import type { ObserveStatus } from '../store/status.ts'

/**
 * The queries that the Observe API and the console make. Two stores answer them: the embedded one (`sqlite-queries.ts`) and
 * ClickHouse (`clickhouse/clickhouse-queries.ts`). `observe-queries.case.ts` holds both to the same answers.
 *
 * A query with a budget ends early when its answer is full, and the budget then says so. It throws `AnswerTooLarge` if not even the first
 * item fits.
 */
export interface ObserveQueries {
  status(): Promise<ObserveStatus>
  /** Returns services by name. */
  services(after: Position | undefined, budget: ResponseBudget): Promise<Page<ServiceSummary>>
  /** Returns runs, the latest start first. A page can be short, or even empty, although there is a next one. */
  runs(query: RunQuery, budget: ResponseBudget): Promise<SearchedPage<RunSummary>>
  /** Returns the run at the root of a trace; `undefined` if the trace has none. */
  run(traceId: string): Promise<RunSummary | undefined>
  /** Returns the values that the filters of runs can have. */
  facets(service: string | undefined, budget: ResponseBudget): Promise<RunFacets>
  /** Returns traces, the latest start first. A page can be short, or even empty, although there is a next one. */
  traces(query: TraceQuery, budget: ResponseBudget): Promise<Page<TraceSummary>>
  /** Returns a page of spans in order of start; `undefined` if none of the trace is stored. */
  trace(query: TraceSpansQuery, budget: ResponseBudget): Promise<TraceSpansPage | undefined>
  /** Returns metrics by name. */
  metricNames(query: MetricNameQuery, budget: ResponseBudget): Promise<Page<MetricName>>
  metric(query: MetricQuery, budget: ResponseBudget): Promise<StoredMetric>
  /** Returns the sums of a metric's counters, or quantiles of its histograms, per interval over series. */
  metricIntervals(query: MetricIntervalsQuery, budget: ResponseBudget): Promise<MetricIntervals>
  /** Returns log records, the latest first. A page can be short, or even empty, although there is a next one. */
  logRecords(query: LogQuery, budget: ResponseBudget): Promise<SearchedPage<StoredLogRecord>>
  insights(query: InsightsQuery): Promise<Insights>
  /** Compares two runs, or a run with what is usual for it; `undefined` if a run is not stored. */
  compare(query: CompareQuery): Promise<RunComparison | undefined>
  /** Returns the events of a live list after a position, in the order of arrival. */
  live(query: LiveQuery): Promise<LiveEvents>
}
