// Command interop is the Go client of the interoperability tests: the OpenTelemetry SDK's own OTLP exporters, controlled by
// lines of JSON on its input, each answered by a line of JSON on its output. "interop calls" sends plain gRPC calls instead.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// Order is the wish of the test; see ExportOrder in client-process.ts.
type Order struct {
	ID          string `json:"id"`
	Exporter    string `json:"exporter"`
	Protocol    string `json:"protocol"`
	Signal      string `json:"signal"`
	Endpoint    string `json:"endpoint"`
	Token       string `json:"token"`
	Compression string `json:"compression"`
	Name        string `json:"name"`
	Padding     int    `json:"padding"`
	TimeoutMs   int    `json:"timeoutMs"`
	RetryMs     int    `json:"retryMs"`
}

type Outcome struct {
	ID    string `json:"id"`
	OK    bool   `json:"ok"`
	Error string `json:"error"`
}

type export func(ctx context.Context, order Order) error

func main() {
	if len(os.Args) == 6 && os.Args[1] == "calls" {
		sendCalls(os.Args[2], os.Args[3], os.Args[4], os.Args[5])
		return
	}
	exporters := map[string]export{}
	outcomes := json.NewEncoder(os.Stdout)
	var saying sync.Mutex
	if err := outcomes.Encode(Outcome{ID: "ready"}); err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var order Order
		if err := json.Unmarshal(lines.Bytes(), &order); err != nil {
			panic(err)
		}
		exporter, known := exporters[order.Exporter]
		if !known {
			made, err := newExporter(order)
			if err != nil {
				panic(err)
			}
			exporter = made
			exporters[order.Exporter] = exporter
		}
		go func() {
			err := exporter(context.Background(), order)
			outcome := Outcome{ID: order.ID, OK: err == nil}
			if err != nil {
				outcome.Error = err.Error()
			}
			saying.Lock()
			defer saying.Unlock()
			if err := outcomes.Encode(outcome); err != nil {
				panic(err)
			}
		}()
	}
}

func newExporter(order Order) (export, error) {
	switch order.Signal {
	case "traces":
		return traceExporter(order)
	case "metrics":
		return metricExporter(order)
	case "logs":
		return logExporter(order)
	}
	return nil, fmt.Errorf("no such signal: %s", order.Signal)
}

func traceExporter(order Order) (export, error) {
	var client otlptrace.Client
	if order.Protocol == "grpc" {
		options := []otlptracegrpc.Option{
			otlptracegrpc.WithInsecure(),
			otlptracegrpc.WithEndpoint(host(order)),
			otlptracegrpc.WithHeaders(headers(order)),
			otlptracegrpc.WithTimeout(ms(order.TimeoutMs)),
			otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig(retry(order))),
		}
		if order.Compression == "gzip" {
			options = append(options, otlptracegrpc.WithCompressor("gzip"))
		}
		client = otlptracegrpc.NewClient(options...)
	} else {
		client = otlptracehttp.NewClient(
			otlptracehttp.WithInsecure(),
			otlptracehttp.WithEndpoint(host(order)),
			otlptracehttp.WithHeaders(headers(order)),
			otlptracehttp.WithTimeout(ms(order.TimeoutMs)),
			otlptracehttp.WithRetry(otlptracehttp.RetryConfig(retry(order))),
			otlptracehttp.WithCompression(otlptracehttp.Compression(compression(order))),
		)
	}
	exporter, err := otlptrace.New(context.Background(), client)
	return func(ctx context.Context, order Order) error {
		now := time.Now()
		span := tracetest.SpanStub{
			Name: order.Name,
			SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
				TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled,
			}),
			StartTime:  now,
			EndTime:    now,
			Attributes: []attribute.KeyValue{attribute.String("padding", padding(order))},
		}
		return exporter.ExportSpans(ctx, tracetest.SpanStubs{span}.Snapshots())
	}, err
}

func metricExporter(order Order) (export, error) {
	exporter, err := func() (metric.Exporter, error) {
		if order.Protocol == "grpc" {
			options := []otlpmetricgrpc.Option{
				otlpmetricgrpc.WithInsecure(),
				otlpmetricgrpc.WithEndpoint(host(order)),
				otlpmetricgrpc.WithHeaders(headers(order)),
				otlpmetricgrpc.WithTimeout(ms(order.TimeoutMs)),
				otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig(retry(order))),
			}
			if order.Compression == "gzip" {
				options = append(options, otlpmetricgrpc.WithCompressor("gzip"))
			}
			return otlpmetricgrpc.New(context.Background(), options...)
		}
		return otlpmetrichttp.New(
			context.Background(),
			otlpmetrichttp.WithInsecure(),
			otlpmetrichttp.WithEndpoint(host(order)),
			otlpmetrichttp.WithHeaders(headers(order)),
			otlpmetrichttp.WithTimeout(ms(order.TimeoutMs)),
			otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig(retry(order))),
			otlpmetrichttp.WithCompression(otlpmetrichttp.Compression(compression(order))),
		)
	}()
	return func(ctx context.Context, order Order) error {
		now := time.Now()
		point := metricdata.DataPoint[int64]{
			StartTime:  now,
			Time:       now,
			Value:      1,
			Attributes: attribute.NewSet(attribute.String("padding", padding(order))),
		}
		sum := metricdata.Sum[int64]{
			Temporality: metricdata.CumulativeTemporality,
			IsMonotonic: true,
			DataPoints:  []metricdata.DataPoint[int64]{point},
		}
		return exporter.Export(ctx, &metricdata.ResourceMetrics{
			ScopeMetrics: []metricdata.ScopeMetrics{{Metrics: []metricdata.Metrics{{Name: order.Name, Data: sum}}}},
		})
	}, err
}

func logExporter(order Order) (export, error) {
	exporter, err := func() (sdklog.Exporter, error) {
		if order.Protocol == "grpc" {
			options := []otlploggrpc.Option{
				otlploggrpc.WithInsecure(),
				otlploggrpc.WithEndpoint(host(order)),
				otlploggrpc.WithHeaders(headers(order)),
				otlploggrpc.WithTimeout(ms(order.TimeoutMs)),
				otlploggrpc.WithRetry(otlploggrpc.RetryConfig(retry(order))),
			}
			if order.Compression == "gzip" {
				options = append(options, otlploggrpc.WithCompressor("gzip"))
			}
			return otlploggrpc.New(context.Background(), options...)
		}
		return otlploghttp.New(
			context.Background(),
			otlploghttp.WithInsecure(),
			otlploghttp.WithEndpoint(host(order)),
			otlploghttp.WithHeaders(headers(order)),
			otlploghttp.WithTimeout(ms(order.TimeoutMs)),
			otlploghttp.WithRetry(otlploghttp.RetryConfig(retry(order))),
			otlploghttp.WithCompression(otlploghttp.Compression(compression(order))),
		)
	}()
	return func(ctx context.Context, order Order) error {
		caught := &catcher{}
		var record log.Record
		record.SetTimestamp(time.Now())
		record.SetSeverity(log.SeverityInfo)
		record.SetBody(attribute.StringValue(order.Name))
		record.AddAttributes(attribute.String("padding", padding(order)))
		sdklog.NewLoggerProvider(sdklog.WithProcessor(caught)).Logger("interop").Emit(ctx, record)
		return exporter.Export(ctx, caught.records)
	}, err
}

// The SDK makes records nowhere but on the way to a processor.
type catcher struct{ records []sdklog.Record }

func (c *catcher) OnEmit(_ context.Context, record *sdklog.Record) error {
	c.records = append(c.records, record.Clone())
	return nil
}
func (c *catcher) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }
func (c *catcher) Shutdown(context.Context) error                         { return nil }
func (c *catcher) ForceFlush(context.Context) error                       { return nil }

// Of the same shape as the RetryConfig of every exporter.
type retryConfig struct {
	Enabled         bool
	InitialInterval time.Duration
	MaxInterval     time.Duration
	MaxElapsedTime  time.Duration
}

func retry(order Order) retryConfig {
	return retryConfig{true, ms(order.RetryMs), 2 * ms(order.RetryMs), ms(order.TimeoutMs)}
}

func compression(order Order) int {
	if order.Compression == "gzip" {
		return int(otlptracehttp.GzipCompression)
	}
	return int(otlptracehttp.NoCompression)
}

func headers(order Order) map[string]string {
	if order.Token == "" {
		return nil
	}
	return map[string]string{"authorization": "Bearer " + order.Token}
}

func host(order Order) string {
	endpoint, err := url.Parse(order.Endpoint)
	if err != nil {
		panic(err)
	}
	return endpoint.Host
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func padding(order Order) string { return strings.Repeat("x", order.Padding) }
