import Fieldwork

/// How fast a download goes: by what has arrived in the last seconds, so that a line that grows slow is noticed and one that
/// wavers does not make the time left jump.
struct DownloadPace: Sendable {
    private var looks: [(at: ContinuousClock.Instant, there: Int64)] = []

    mutating func note(_ there: Int64, at instant: ContinuousClock.Instant) {
        // What goes once more from the start says nothing about what went before.
        if let last = looks.last, there < last.there { looks = [] }
        looks.append((instant, there))
        let oldest = instant - .seconds(Limits.paceSeconds)
        // The one before the time's beginning stays: the pace is of at least that time.
        while looks.count > 2, looks[1].at <= oldest { looks.removeFirst() }
    }

    /// nil before it was looked at long enough, and on a line that stands still.
    func secondsLeft(of file: GenerateGeodatabaseJob.Arrival) -> Double? {
        guard let first = looks.first, let last = looks.last else { return nil }
        let time = first.at.duration(to: last.at) / .seconds(1)
        let bytes = last.there - first.there
        guard time >= Limits.paceLeastSeconds, bytes > 0 else { return nil }
        return Double(max(0, file.whole - file.there)) * time / Double(bytes)
    }
}
