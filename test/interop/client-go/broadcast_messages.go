package main

import (
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
)

func init() {
	register("broadcast_messages", broadcastMessages)
}

func broadcastMessages(served core) (any, error) {
	service := served.root.BroadcastMessage
	begins := time.Date(2026, time.February, 3, 4, 0, 0, 0, time.UTC)
	made, response, err := service.CreateBroadcastMessage(&gitlab.CreateBroadcastMessageOptions{
		Message:            gitlab.Ptr("Maintenance on Sunday"),
		StartsAt:           gitlab.Ptr(begins),
		EndsAt:             gitlab.Ptr(begins.Add(2 * time.Hour)),
		Font:               gitlab.Ptr("#FFFFFF"),
		TargetAccessLevels: []gitlab.AccessLevelValue{gitlab.DeveloperPermissions, gitlab.MaintainerPermissions},
		TargetPath:         gitlab.Ptr("*/welcome"),
		BroadcastType:      gitlab.Ptr("notification"),
		Dismissable:        gitlab.Ptr(true),
		Theme:              gitlab.Ptr("light-blue"),
	})
	if err != nil {
		return nil, err
	}
	// Reading needs no credential, and ignores one that is not valid.
	visitor, err := served.as("unknown-token")
	if err != nil {
		return nil, err
	}
	list, page, err := visitor.BroadcastMessage.ListBroadcastMessages(&gitlab.ListBroadcastMessagesOptions{})
	if err != nil {
		return nil, err
	}
	shown, _, err := visitor.BroadcastMessage.GetBroadcastMessage(made.ID)
	if err != nil {
		return nil, err
	}
	_, _, refused := visitor.BroadcastMessage.CreateBroadcastMessage(&gitlab.CreateBroadcastMessageOptions{})
	changed, _, err := service.UpdateBroadcastMessage(made.ID, &gitlab.UpdateBroadcastMessageOptions{
		Message:            gitlab.Ptr("Maintenance is over"),
		TargetAccessLevels: []gitlab.AccessLevelValue{gitlab.GuestPermissions},
		Theme:              gitlab.Ptr("green"),
	})
	if err != nil {
		return nil, err
	}
	if _, err := service.DeleteBroadcastMessage(made.ID); err != nil {
		return nil, err
	}
	_, _, gone := service.GetBroadcastMessage(made.ID)
	return fields{
		"made":    []any{response.StatusCode, made},
		"listed":  []any{len(list), page.TotalItems, list[0].ID == made.ID},
		"shown":   []any{shown.Message, shown.Active, shown.TargetAccessLevels},
		"refused": refusal(refused),
		"changed": []any{changed.Message, changed.Theme, changed.TargetAccessLevels, changed.TargetPath},
		"gone":    refusal(gone),
	}, nil
}
