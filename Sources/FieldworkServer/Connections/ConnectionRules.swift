/// How long connections may take over what they send, and how many one client has.
package struct ConnectionRules: Sendable {
    /// Connections of one client's address. Those of a trusted proxy are not counted: it speaks for many.
    package var perAddress: Int
    /// How long the head of a request may take to arrive, from its first byte or from the connection's beginning.
    package var headTime: Duration
    /// A body may stay behind the rate for this long.
    package var bodyGrace: Duration
    /// Bytes of a body that must arrive in a second.
    package var bodyBytesPerSecond: Int

    package init(
        perAddress: Int = Limits.connectionsPerAddress, headTime: Duration = .seconds(Limits.headSeconds),
        bodyGrace: Duration = .seconds(Limits.bodyGraceSeconds),
        bodyBytesPerSecond: Int = Limits.slowestBodyBytesPerSecond
    ) {
        self.perAddress = perAddress
        self.headTime = headTime
        self.bodyGrace = bodyGrace
        self.bodyBytesPerSecond = bodyBytesPerSecond
    }
}
