use super::*;

fn residual() -> Description {
    let file = Description::of_file(&proto::Net::default(), ValueKind::Wdl, InputFormat::Classical);
    Description {
        architecture: Architecture::Residual { blocks: 6, filters: 64, squeeze_excitation: true, policy_encoders: 0 },
        activation: Some(Activation::Relu),
        policy: Some(PolicyKind::Convolution),
        policy_heads: vec!["vanilla".to_owned()],
        value_heads: vec!["winner".to_owned()],
        parameters: Some(868_000),
        ..file
    }
}

// Lc0 refuses such a network (docs/lc0.md, 4.6).
#[test]
fn a_network_for_a_later_lc0_is_reported() {
    let text = |major, minor| {
        let min_version = Some(proto::EngineVersion { major: Some(major), minor: Some(minor), patch: Some(7) });
        let net = proto::Net { min_version, ..proto::Net::default() };
        Description::of_file(&net, ValueKind::Wdl, InputFormat::Classical).to_string()
    };
    for (major, minor) in [(0, 34), (1, 0), (99, 0), (u32::MAX, u32::MAX)] {
        let end = format!("; it asks for Lc0 {major}.{minor}.7 or later, which may read it otherwise");
        assert!(text(major, minor).ends_with(&end), "{}", text(major, minor));
    }
    for (major, minor) in [(0, 0), (0, 21), (0, 33)] {
        assert!(text(major, minor).ends_with("planes"), "{}", text(major, minor));
    }
}

#[test]
fn description_is_one_line() {
    let mut description = residual();
    assert_eq!(
        description.to_string(),
        "SE 6x64, relu, policy convolution, value WDL, no moves left, input classical 112 planes, 0.87 M parameters"
    );
    description.architecture = Architecture::AttentionBody {
        blocks: 2,
        filters: 32,
        encoders: 15,
        embedding: 1024,
        heads: 32,
        smolgen: true,
        ffn_activation: Activation::Mish,
        smolgen_activation: Some(Activation::Swish),
        position_encoding: PositionKind::Tower,
        policy_encoders: 0,
    };
    description.policy = Some(PolicyKind::Attention);
    description.policy_heads.push("soft".to_owned());
    description.value_heads.push("q".to_owned());
    description.moves_left = true;
    description.parameters = Some(190_450_000);
    assert_eq!(
        description.to_string(),
        "attention body 15x1024, 32 heads, smolgen, on a tower of 2x32, relu, policy attention (vanilla, soft), \
         value WDL (winner, q), moves left, input classical 112 planes, 190.4 M parameters"
    );
    let onnx = Description::of_onnx(3_456_789, ValueKind::Wdl, true, InputFormat::Classical, &proto::Net::default());
    assert_eq!(onnx.to_string(), "ONNX model of 3.5 MB, value WDL, moves left, input classical 112 planes");
}

#[test]
fn description_serialises() {
    let json = serde_json::to_value(residual()).unwrap();
    assert_eq!(json["architecture"], "residual");
    assert_eq!((json["blocks"].as_u64(), json["filters"].as_u64()), (Some(6), Some(64)));
    assert_eq!(json["activation"], "relu");
    assert_eq!(json["policy_heads"], serde_json::json!(["vanilla"]));
    assert!(json["license"].is_null());
}
