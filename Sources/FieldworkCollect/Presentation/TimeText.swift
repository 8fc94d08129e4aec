/// Lengths of time in words.
enum TimeText {
    /// "about 20 seconds left": in steps so coarse that it does not change with each look.
    static func left(_ seconds: Double) -> String {
        switch seconds {
        case ..<8: return "a few seconds left"
        case ..<55: return "about \(Int((seconds / 10).rounded(.up)) * 10) seconds left"
        case ..<90: return "about 1 minute left"
        case ..<5_400: return "about \(Int((seconds / 60).rounded())) minutes left"
        default:
            let hours = min(seconds / 3_600, Double(Limits.hoursTold))
            return "about \(Int(hours.rounded())) hours left"
        }
    }
}
