module kleym.sonda.red/test/control-plane/openreports

go 1.26.0

require github.com/openreports/reports-api v0.2.1
