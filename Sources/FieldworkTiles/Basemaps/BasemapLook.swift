/// How the basemaps that Fieldwork makes look: by day, by night, and in the glare of the sun.
package enum BasemapLook: String, CaseIterable, Sendable {
    case light, dark, sunlight

    /// The colours of a look.
    struct Colors {
        var land, water, waterText, building, buildingEdge: String
        var wood, grass, scrub, farmland, wetland, sand, rock, ice: String
        var park, residential, commercial, industrial, school, hospital, cemetery, military, airport, pitch,
            paved: String
        var motorway, trunk, primary, secondary, minor, service, path, roadEdge, rail, boundary: String
        var text, faintText, halo, interest, greenText: String
    }

    var colors: Colors {
        switch self {
        case .light:
            Colors(
                land: "#f5f3ee", water: "#a9cfe6", waterText: "#3f6f92", building: "#e0dad1", buildingEdge: "#cdc5b9",
                wood: "#c6ddb8", grass: "#d8e8c6", scrub: "#d3e0c0", farmland: "#efecdb", wetland: "#cfe2d6",
                sand: "#f3e9c6", rock: "#e3e0dc", ice: "#eef6fa", park: "#cfe6bf", residential: "#eeebe5",
                commercial: "#f0e8e6", industrial: "#e8e6ec", school: "#f1ecd9", hospital: "#f4e1e0",
                cemetery: "#d5e0ca",
                military: "#ece0da", airport: "#e6e6ec", pitch: "#c3e0b6", paved: "#ebe8e2", motorway: "#f2a25c",
                trunk: "#f6bd74", primary: "#fad894", secondary: "#fcebb6", minor: "#ffffff", service: "#ffffff",
                path: "#b89f86", roadEdge: "#cfc7bb", rail: "#9d9a9f", boundary: "#8d7a9d", text: "#2b2b2b",
                faintText: "#6b665f", halo: "#ffffff", interest: "#7a4f2c", greenText: "#3d6b35")
        case .dark:
            Colors(
                land: "#1f2226", water: "#16303f", waterText: "#7fb0cc", building: "#2d3137", buildingEdge: "#3a3f46",
                wood: "#22301f", grass: "#262f22", scrub: "#252d22", farmland: "#27271f", wetland: "#21302c",
                sand: "#332f22", rock: "#2b2c2e", ice: "#32393d", park: "#24341f", residential: "#23262a",
                commercial: "#292629", industrial: "#26262d", school: "#2c2a21", hospital: "#332525",
                cemetery: "#262e22",
                military: "#2d2723", airport: "#26272d", pitch: "#28381f", paved: "#292c30", motorway: "#a5652c",
                trunk: "#96692f", primary: "#7d6636", secondary: "#625a3f", minor: "#474c54", service: "#3c4148",
                path: "#6a5f54", roadEdge: "#14161a", rail: "#5d5f68", boundary: "#7f6f93", text: "#e8e6e3",
                faintText: "#a9a49d", halo: "#15171a", interest: "#d7b08a", greenText: "#9dc78f")
        case .sunlight:
            Colors(
                land: "#ffffff", water: "#6fb7ea", waterText: "#00386b", building: "#c9c9c9", buildingEdge: "#6e6e6e",
                wood: "#a6d88c", grass: "#cdeeb4", scrub: "#c2e3a6", farmland: "#f6f2d2", wetland: "#b5dfd0",
                sand: "#ffefae", rock: "#dddddd", ice: "#e6f5ff", park: "#b2e598", residential: "#ffffff",
                commercial: "#fbe9e9", industrial: "#e9e9f6", school: "#fff3c9", hospital: "#ffd6d6",
                cemetery: "#c4dfae",
                military: "#f0d9cf", airport: "#e2e2f0", pitch: "#9ee083", paved: "#efefef", motorway: "#e04a00",
                trunk: "#f07800", primary: "#ffb000", secondary: "#ffe14d", minor: "#ffffff", service: "#ffffff",
                path: "#8a4b00", roadEdge: "#303030", rail: "#202020", boundary: "#7a00a8", text: "#000000",
                faintText: "#222222", halo: "#ffffff", interest: "#5a2d00", greenText: "#004d00")
        }
    }
}
