/// Words of messages that follow a number.
enum Words {
    /// "1 edit", "2 edits".
    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
