module kleym.sonda.red/test/control-plane/gaie-1.6

go 1.26.0

require sigs.k8s.io/gateway-api-inference-extension v1.6.0
