/// Numbers with their nouns.
enum Counted {
    static func text(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
    }

    static func features(_ count: Int) -> String { text(count, "feature") }
}
