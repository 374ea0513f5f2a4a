// Package esapi has the types that Jaeger refers to.
package esapi

import "io"

type Response struct {
	StatusCode int
}

type Indices struct {
	PutIndexTemplate func(name string, body io.Reader) (*Response, error)
}
