module kleym.sonda.red/test/control-plane/kube-agentic-networking

go 1.26.0

require sigs.k8s.io/kube-agentic-networking v0.1.0
