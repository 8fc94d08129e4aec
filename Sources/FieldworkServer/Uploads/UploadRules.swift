import FieldworkREST

/// What holds for uploads wherever they are kept.
enum UploadRules {
    static let tooLarge = ServiceError(
        code: 413, message: "The upload is too large.",
        details: ["An upload may have \(FieldworkREST.Limits.attachmentBytes) bytes."])

    /// - Parameters:
    ///   - others: the sizes of the parts with other numbers.
    ///   - size: of the part that comes.
    static func checkPart(_ item: UploadItem, size: Int, others: [Int]) throws(ServiceError) {
        guard item.content == nil else { throw complete(item.id) }
        guard others.count < Limits.uploadParts else {
            throw .invalidParameter("An upload may have \(Limits.uploadParts) parts.")
        }
        guard others.reduce(size, +) <= FieldworkREST.Limits.attachmentBytes else { throw tooLarge }
    }

    static func complete(_ id: String) -> ServiceError {
        .invalidParameter("The upload \(id) is complete and takes no more parts.")
    }

    /// What a commit may name.
    static func checkParts(_ numbers: [Int], present: Set<Int>) throws(ServiceError) {
        guard !numbers.isEmpty, Set(numbers).count == numbers.count, numbers.allSatisfy(present.contains) else {
            throw .invalidParameter("'parts' must name parts that were uploaded, each once.")
        }
    }

    /// - Parameter present: the stretches that are there, in their order.
    static func checkStretch(at offset: Int, present: [(offset: Int, size: Int)]) throws(ServiceError) {
        let received = reach(of: present)
        guard offset <= received else {
            throw ServiceError(
                code: 409, message: "The upload goes on elsewhere.",
                details: ["\(received) bytes have arrived, and 'offset' is \(offset)."])
        }
        guard present.count < Limits.uploadStretches else {
            throw .invalidParameter("An upload may have \(Limits.uploadStretches) stretches.")
        }
        // What overlaps takes room twice, and no more.
        guard present.reduce(0, { $0 + $1.size }) <= 2 * FieldworkREST.Limits.attachmentBytes else { throw tooLarge }
    }

    /// How many bytes are there without a gap from the first one on.
    /// - Parameter present: the stretches that are there, in their order.
    static func reach(of present: [(offset: Int, size: Int)]) -> Int {
        present.reduce(0) { $1.offset <= $0 ? max($0, $1.offset + $1.size) : $0 }
    }
}
