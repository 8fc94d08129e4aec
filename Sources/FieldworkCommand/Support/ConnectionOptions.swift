import ArgumentParser
import FieldworkServer

/// How many connections a server takes, and how slow they may be.
struct ConnectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How many connections there may be at once.", valueName: "number"))
    var maxConnections = FieldworkServer.Limits.connections

    @Option(
        help: ArgumentHelp("How many of them one client's address may have.", valueName: "number"))
    var connectionsPerAddress = FieldworkServer.Limits.connectionsPerAddress

    @Option(help: ArgumentHelp("How long the head of a request may take to arrive.", valueName: "seconds"))
    var headSeconds = FieldworkServer.Limits.headSeconds

    @Option(help: ArgumentHelp("How many bytes of a body must arrive in a second.", valueName: "bytes"))
    var slowestBody = FieldworkServer.Limits.slowestBodyBytesPerSecond

    @Option(
        help: ArgumentHelp(
            "How long a body may stay behind that, as when a line is gone for a moment.", valueName: "seconds"))
    var bodyGraceSeconds = FieldworkServer.Limits.bodyGraceSeconds

    func validate() throws {
        let options = [
            ("--max-connections", maxConnections), ("--connections-per-address", connectionsPerAddress),
            ("--head-seconds", headSeconds), ("--slowest-body", slowestBody),
            ("--body-grace-seconds", bodyGraceSeconds),
        ]
        for (name, value) in options where !(1...1_000_000).contains(value) {
            throw ValidationError("\(name) must be a number from 1 to 1000000.")
        }
    }

    var rules: ConnectionRules {
        ConnectionRules(
            perAddress: connectionsPerAddress, headTime: .seconds(headSeconds),
            bodyGrace: .seconds(bodyGraceSeconds), bodyBytesPerSecond: slowestBody)
    }
}
