import FieldworkREST

/// Which layers an image shows: the parameter `layers` of `export`, as `show:0,2`, `hide:…`, `include:…` or `exclude:…`.
struct MapLayerVisibility: Sendable, Hashable {
    private enum Mode: String {
        case show, hide, include, exclude
    }

    private var mode = Mode.exclude
    private var ids: Set<Int> = []

    /// - Parameter text: nil for the layers that are shown by default.
    init(_ text: String?) throws(ServiceError) {
        guard let text = text?.filter({ $0 != " " }), !text.isEmpty else { return }
        let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, let mode = Mode(rawValue: words[0].lowercased()) else {
            throw .invalidParameter("'layers' must be show, hide, include or exclude, a colon and ids.")
        }
        self.mode = mode
        for word in words[1].split(separator: ",") {
            guard let id = Int(word), ids.count < Limits.mapLayers else {
                throw .invalidParameter("'layers' has '\(word.prefix(40))', which is no layer's id.")
            }
            ids.insert(id)
        }
    }

    func shows(_ layer: LayerDefinition) -> Bool {
        switch mode {
        case .show: ids.contains(layer.id)
        case .include: layer.isVisibleByDefault || ids.contains(layer.id)
        case .hide, .exclude: layer.isVisibleByDefault && !ids.contains(layer.id)
        }
    }
}

extension LayerDefinition {
    /// Whether a map of a scale shows the layer.
    func isShown(at scale: Double) -> Bool {
        (minScale == 0 || scale <= minScale) && (maxScale == 0 || scale >= maxScale)
    }
}
