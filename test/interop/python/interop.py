"""
The Python client of the interoperability tests: the OpenTelemetry SDK's own OTLP exporters, controlled by lines of
JSON on its input (see ExportOrder in client-process.ts), each answered by a line of JSON on its output.
"""

import json
import logging
import os
import sys
import threading

import grpc
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogExporter
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcMetricExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

HTTP = {"traces": HttpSpanExporter, "metrics": HttpMetricExporter, "logs": HttpLogExporter}
GRPC = {"traces": GrpcSpanExporter, "metrics": GrpcMetricExporter, "logs": GrpcLogExporter}

saying = threading.Lock()


class SaidByThread(logging.Handler):
    """Collects log messages by thread, because exporters report the reason of a failure only in the log."""

    def __init__(self):
        super().__init__()
        self.said = threading.local()

    def emit(self, record):
        self.said.lines = [*getattr(self.said, "lines", []), record.getMessage()]


def new_exporter(order):
    headers = {"authorization": f"Bearer {order['token']}"} if order.get("token") else None
    timeout = order["timeoutMs"] / 1000
    is_gzip = order["compression"] == "gzip"
    if order["protocol"] == "grpc":
        return GRPC[order["signal"]](
            endpoint=order["endpoint"],
            insecure=True,
            headers=headers,
            timeout=timeout,
            compression=grpc.Compression.Gzip if is_gzip else grpc.Compression.NoCompression,
            # Connections made by channels to the same port would otherwise be shared.
            channel_options=(("grpc.use_local_subchannel_pool", 1),),
        )
    return HTTP[order["signal"]](
        endpoint=f"{order['endpoint']}/v1/{order['signal']}",
        headers=headers,
        timeout=timeout,
        compression=Compression.Gzip if is_gzip else Compression.NoCompression,
    )


def telemetry(order):
    name = order["name"]
    attributes = {"padding": "x" * order["padding"]}
    if order["signal"] == "traces":
        spans = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(spans))
        provider.get_tracer("interop").start_span(name, attributes=attributes).end()
        return spans.get_finished_spans()
    if order["signal"] == "metrics":
        reader = InMemoryMetricReader()
        provider = MeterProvider(metric_readers=[reader])
        provider.get_meter("interop").create_counter(name).add(1, attributes)
        return reader.get_metrics_data()
    records = InMemoryLogRecordExporter()
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(records))
    record = LogRecord(severity_number=SeverityNumber.INFO, body=name, attributes=attributes)
    provider.get_logger("interop").emit(record)
    return records.get_finished_logs()


def export(exporter, order, log):
    log.said.lines = []
    result = exporter.export(telemetry(order))
    outcome = {"id": order["id"], "ok": result.name == "SUCCESS", "error": "; ".join(log.said.lines)}
    with saying:
        print(json.dumps(outcome), flush=True)


def main():
    log = SaidByThread()
    logging.getLogger("opentelemetry").addHandler(log)
    # The filter drops repeated messages, even if they come from another exporter.
    logging.getLogger("opentelemetry.exporter.otlp.proto.grpc.exporter").filters.clear()
    exporters = {}
    print(json.dumps({"id": "ready"}), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        exporter = exporters.setdefault(order["exporter"], None) or new_exporter(order)
        exporters[order["exporter"]] = exporter
        threading.Thread(target=export, args=(exporter, order, log), daemon=True).start()
    # A normal exit would wait for running exports, because exporters register exit handlers.
    os._exit(0)


main()
