/// Where the app answers, with the key that opens its page.
package struct CollectAddress: Sendable {
    package let port: Int
    package let key: String

    /// The address to open in a browser. It holds the key, so it is for the user of this machine alone.
    package var text: String { "http://127.0.0.1:\(port)/?key=\(key)" }
}
