package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip" // registers the compressor
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// CallOrder asks for one call; see CallOrder in concurrent-calls.ts.
type CallOrder struct {
	ID            string `json:"id"`
	Path          string `json:"path"`
	Body          []byte `json:"body"`
	DeadlineMs    int    `json:"deadlineMs"`
	CancelAfterMs *int   `json:"cancelAfterMs"`
}

type callOutcome struct {
	ID      string `json:"id"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// sendCalls sends gRPC calls over one channel. It reads one order per line of JSON and prints the code of each call.
// The last argument is the time between keepalive pings, in milliseconds.
func sendCalls(target, token, compression, keepaliveMs string) {
	pingMs, err := strconv.Atoi(keepaliveMs)
	if err != nil {
		panic(err)
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: ms(pingMs)}),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})),
	}
	if compression == "gzip" {
		options = append(options, grpc.WithDefaultCallOptions(grpc.UseCompressor("gzip")))
	}
	channel, err := grpc.NewClient("passthrough:///"+target, options...)
	if err != nil {
		panic(err)
	}
	outcomes := json.NewEncoder(os.Stdout)
	var saying sync.Mutex
	say := func(outcome callOutcome) {
		saying.Lock()
		defer saying.Unlock()
		if err := outcomes.Encode(outcome); err != nil {
			panic(err)
		}
	}
	say(callOutcome{ID: "ready"})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var order CallOrder
		if err := json.Unmarshal(lines.Bytes(), &order); err != nil {
			panic(err)
		}
		ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+token)
		ctx, cancel := context.WithTimeout(ctx, ms(order.DeadlineMs))
		if order.CancelAfterMs != nil {
			time.AfterFunc(ms(*order.CancelAfterMs), cancel)
		}
		go func() {
			defer cancel()
			var reply []byte
			err := channel.Invoke(ctx, order.Path, &order.Body, &reply)
			say(callOutcome{order.ID, int(status.Code(err)), status.Convert(err).Message()})
		}()
	}
}

// rawCodec passes messages as bytes.
type rawCodec struct{}

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (rawCodec) Name() string { return "proto" }
